"""Small wrong changes to a syntax tree, one at a time, each with words for it.

Annotations, docstrings, imports, decorators and the options of classes are left alone: changing them changes no behaviour,
or nothing that a run could miss.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

COMPARES: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
}
CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}
PASSED_THROUGH = {"reversed", "sorted", "frozenset"}
CONTEXT = 40
"""Characters told on both sides of a change."""
LEFT_ALONE = {"annotation", "returns", "decorator_list", "bases", "ctx"}


@dataclass(frozen=True)
class Mutant:
    """`id` names the change without its line, so that an accepted one stays accepted when lines move."""

    id: str
    line: int
    tree: ast.Module


@dataclass(frozen=True)
class Slot:
    """One place in the tree, by the way that leads to it."""

    way: tuple[tuple[str, int | None], ...]
    node: ast.AST
    scope: str
    field: str

    def replaced(self, tree: ast.Module, new: ast.AST | None) -> ast.Module:
        """A copy of the tree with `new` here, or nothing."""
        tree = copy.deepcopy(tree)
        parent: ast.AST = tree
        for field, index in self.way[:-1]:
            value = getattr(parent, field)
            parent = value if index is None else value[index]
        field, index = self.way[-1]
        if index is None:
            setattr(parent, field, new)
        elif new is None:
            del getattr(parent, field)[index]
        else:
            getattr(parent, field)[index] = new
        return ast.fix_missing_locations(tree)


def mutants(source: str) -> Iterator[Mutant]:
    """Every mutant of a module, in reading order."""
    tree = ast.parse(source)
    seen: Counter[str] = Counter()
    for slot in _slots(tree, (), ""):
        for new in _changes(slot):
            name = f"{slot.scope or 'module'}: {_difference(_words(slot.node), _words(new))}"
            seen[name] += 1
            number = f" ({seen[name]})" if seen[name] > 1 else ""
            yield Mutant(name + number, getattr(slot.node, "lineno", 0), slot.replaced(tree, new))


def _words(node: ast.AST | None) -> str:
    if node is None or isinstance(node, ast.Pass):
        return "nothing"
    if isinstance(node, ast.match_case):
        node = ast.Match(subject=ast.Name("_"), cases=[node])
        return " ".join(ast.unparse(node).split()[2:])
    return " ".join(ast.unparse(node).split())


def _difference(old: str, new: str) -> str:
    """What differs, with a little of what is around it."""
    begin = _alike(old, new)
    end = min(_alike(old[::-1], new[::-1]), len(old) - begin, len(new) - begin)
    around = slice(max(0, begin - CONTEXT), None)
    cut = [text[: len(text) - max(0, end - CONTEXT)][around] for text in (old, new)]
    return " -> ".join(text.strip() for text in cut)


def _alike(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    pairs = zip(one, other, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _slots(parent: ast.AST, way: tuple[tuple[str, int | None], ...], scope: str) -> Iterator[Slot]:
    for field, value in ast.iter_fields(parent):
        if field in LEFT_ALONE or (isinstance(parent, ast.ClassDef) and field == "keywords"):
            continue
        children = enumerate(value) if isinstance(value, list) else ((None, value),)
        for index, child in children:
            if not isinstance(child, ast.AST) or _is_left_alone(child):
                continue
            if isinstance(parent, ast.JoinedStr) and isinstance(child, ast.Constant):
                continue  # the whole text is one mutant
            here = (*way, (field, index))
            yield Slot(here, child, scope, field)
            inner = f"{scope}.{child.name}".lstrip(".") if isinstance(child, ast.FunctionDef | ast.ClassDef) else scope
            yield from _slots(child, here, inner)


def _is_left_alone(node: ast.AST) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Subscript(value=ast.Name(id="Literal")) | ast.Assert():
            return True
        case ast.Assign(targets=[ast.Name(id="_")]):
            return True
        case ast.Assign(targets=[ast.Name()], value=ast.BinOp(op=ast.BitOr())):
            return True
        case _:
            return False


def _changes(slot: Slot) -> Iterator[ast.AST | None]:
    node = slot.node
    if isinstance(node, ast.stmt):
        yield from _statements(node)
    elif isinstance(node, ast.match_case | ast.pattern):
        yield from _patterns(node)
    elif isinstance(node, ast.expr):
        yield from _conditions(slot, node)
        yield from _expressions(node)


def _statements(node: ast.stmt) -> Iterator[ast.AST | None]:
    match node:
        case ast.If() | ast.Expr() | ast.AugAssign():
            yield ast.Pass()
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()
        case ast.Match(cases=cases):
            for index in range(len(cases)):
                yield _with(
                    node,
                    "cases",
                    [*cases[:index], *cases[index + 1 :]] or [ast.match_case(ast.MatchAs(), None, [ast.Pass()])],
                )
        case _:
            return


def _patterns(node: ast.match_case | ast.pattern) -> Iterator[ast.AST | None]:
    match node:
        case ast.match_case(guard=ast.expr()):
            yield _with(node, "guard", None)
        case ast.MatchOr(patterns=patterns):
            for index in range(len(patterns)):
                rest = [*patterns[:index], *patterns[index + 1 :]]
                yield rest[0] if len(rest) == 1 else ast.MatchOr(rest)
        case ast.MatchClass(kwd_attrs=names, kwd_patterns=patterns):
            for index, pattern in enumerate(patterns):
                if isinstance(pattern, ast.MatchValue | ast.MatchSingleton):
                    slim = _with(node, "kwd_attrs", [*names[:index], *names[index + 1 :]])
                    yield _with(slim, "kwd_patterns", [*patterns[:index], *patterns[index + 1 :]])
        case ast.MatchSingleton(value=bool() as value):
            yield ast.MatchSingleton(not value)
        case _:
            return


def _conditions(slot: Slot, node: ast.expr) -> Iterator[ast.AST]:
    if slot.field in ("test", "guard", "ifs") and not isinstance(node, ast.Compare | ast.UnaryOp):
        yield ast.UnaryOp(ast.Not(), node)
    match node:
        case ast.Compare(ops=[op], left=left, comparators=comparators):
            for other in COMPARES[type(op)]:
                yield ast.Compare(left, [other()], comparators)
        case ast.BoolOp(op=op, values=values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
            for index in range(len(values)):
                rest = [*values[:index], *values[index + 1 :]]
                yield rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.IfExp(body=body, orelse=orelse):
            yield body
            yield orelse


def _expressions(node: ast.expr) -> Iterator[ast.AST]:
    match node:
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield ast.Constant(value + 1)
            yield ast.Constant(value - 1)
        case ast.Constant(value=str()) | ast.JoinedStr():
            yield ast.Constant("mutated")
        case ast.BinOp(op=ast.BitOr(), left=left, right=right) if _names_types(left):
            yield left
            yield right
        case ast.BinOp(op=op, left=left, right=right):
            yield ast.BinOp(left, ARITHMETIC[type(op)](), right)
        case ast.Call():
            yield from _calls(node)
        case ast.Tuple(elts=elts, ctx=ast.Load()):
            for index in range(len(elts)):
                yield ast.Tuple([*elts[:index], *elts[index + 1 :]], ast.Load())
            for index in range(0 if _is_a_set(elts) else len(elts) - 1):
                yield ast.Tuple([*elts[:index], elts[index + 1], elts[index], *elts[index + 2 :]], ast.Load())


def _calls(node: ast.Call) -> Iterator[ast.AST]:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in CALLS:
        yield _with(node, "func", ast.Name(CALLS[name], ast.Load()))
    if name in PASSED_THROUGH and len(node.args) == 1:
        yield node.args[0]
    for index in range(len(node.keywords)):
        yield _with(node, "keywords", [*node.keywords[:index], *node.keywords[index + 1 :]])


def _is_a_set(elts: list[ast.expr]) -> bool:
    """Words or types in a tuple are only ever asked whether they contain something: their order says nothing."""
    return all(isinstance(one, ast.Constant) and isinstance(one.value, str) for one in elts) or all(
        _names_types(one.value if isinstance(one, ast.Starred) else one) for one in elts
    )


def _names_types(node: ast.expr) -> bool:
    match node:
        case ast.Name(id=name):
            return name[0].isupper()
        case ast.BinOp(op=ast.BitOr(), left=left):
            return _names_types(left)
        case _:
            return False


def _with(node: ast.AST, field: str, value: object) -> ast.AST:
    changed = copy.copy(node)
    setattr(changed, field, value)
    return changed
