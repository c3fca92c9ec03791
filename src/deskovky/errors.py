"""The exceptions of deskovky: bad input raises exactly one of these, and changes nothing."""


class DeskovkyError(Exception):
    """Base class of every error that deskovky raises on purpose."""


class UnknownGameError(DeskovkyError, ValueError):
    """No game, ruleset or setup of that name is registered."""


class FenError(DeskovkyError, ValueError):
    """A FEN is malformed or describes a position that the rules exclude; names the field."""


class IllegalActionError(DeskovkyError, ValueError):
    """An action or move text is out of range, illegal here, or came after the end of the game."""


class AgentSpecError(DeskovkyError, ValueError):
    """An agent spec such as ``"minimax:depth=2"`` names an unknown agent or option."""


class CheckpointError(DeskovkyError, ValueError):
    """A checkpoint is truncated, of another program, format, game or ruleset."""


class RecordError(DeskovkyError, ValueError):
    """A record of a game is malformed, or the rules deny a turn of it or its result."""


class TableError(DeskovkyError, ValueError):
    """The solution of a game is missing, truncated or foreign, or does not cover a position."""


class ConfigurationError(DeskovkyError, ValueError):
    """An option of an environment, a search or a training run has a value that cannot be used."""


class RenderError(DeskovkyError, RuntimeError):
    """A picture cannot be made or shown here: a package of an extra is missing, or a display."""


class WorkerError(DeskovkyError, RuntimeError):
    """A process that worked for this one died; what it had finished before is kept."""
