"""Every setting of the workers in one place: variables `GONOGO_…`, then `gonogo.toml` in the data dir, then defaults.

Built once in the wiring and passed down as plain values; nothing below reads the environment. Secrets are masked wherever
settings are shown.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource


class Settings(BaseSettings):
    """The settings of one process."""

    model_config = SettingsConfigDict(env_prefix="GONOGO_", frozen=True, extra="forbid")

    data_dir: Path = Field(description="everything of this installation; private")
    nats_url: str | None = Field(default=None, description="a broker of your own; unset: the embedded one")
    nats_user: str | None = Field(default=None, description="user at that broker; unset: anonymous")
    nats_password: SecretStr | None = Field(default=None, description="password at that broker")
    client: str = Field(
        default="local", pattern=r"^[A-Za-z0-9_-]{1,64}$", description="this command line's client name"
    )
    approvers: tuple[str, ...] = Field(default=("*",), description="clients that may answer reviews; * is anyone")
    log_level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="of the workers' logs")
    log_format: Literal["auto", "console", "json"] = Field(default="auto", description="auto: console on a terminal")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags, variables, then the file."""
        _ = dotenv_settings, file_secret_settings
        given = init_settings()
        file = TomlConfigSettingsSource(settings_cls, toml_file=Path(str(given.get("data_dir", "."))) / "gonogo.toml")
        return init_settings, env_settings, file


def load_settings(data_dir: Path, *, nats_url: str | None = None) -> Settings:
    """The settings of this process. Raises pydantic's ValidationError, which names every wrong one."""
    given: dict[str, object] = {"data_dir": data_dir}
    if nats_url is not None:
        given["nats_url"] = nats_url
    return Settings(**given)  # type: ignore[arg-type]
