"""Pictures of games as SVG text, in paths and shapes only: no font, no script, nothing loaded.

`draw` shows a state; `State.svg` and `State._repr_svg_` call it. `layout` says where the squares
are, so that others can lay something over the picture, `piece_svg` shows one piece, `animate` a
whole game. How a game looks is its `Style`: in `deskovky.envs.<game>.drawing` for the games here,
in the attribute `style` of a game that somebody else wrote; without any it is a plain board of
lettered pieces.

A square is a number here, ``rank * files + file`` as player 0 sees the board, whoever is to move.
"""

import importlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deskovky.envs.protocol import Game, Outcome, State
from deskovky.envs.support import Placement, check_integer, placement
from deskovky.envs.svg import (
    BLUE,
    DARK_WOOD,
    EDGE,
    FILL,
    GREEN,
    INK,
    LABEL,
    LIGHT_WOOD,
    ORANGE,
    PAPER,
    circle,
    element,
    group,
    label,
    moved,
    number,
    path,
    rect,
)
from deskovky.errors import ConfigurationError

SQUARE = 100
MARGIN = 44  # for coordinates, value and side to move: always there, so that nothing shifts
HAND_WIDTH = 116  # a column of the hand, with the gap between it and the board
MAX_ARROWS = 16
MIN_PROBABILITY = 0.01  # what a policy does less often is not drawn
VIOLET = "#7a3aa8"  # what a policy would do


class Rect(NamedTuple):
    """A rectangle in the units of the viewBox."""

    x: float
    y: float
    width: float
    height: float

    @property
    def center(self) -> tuple[float, float]:
        """The middle, ``(x, y)``."""
        return self.x + self.width / 2, self.y + self.height / 2


@dataclass(frozen=True)
class Layout:
    """Where things are in a picture of a board, in the units of its viewBox ``0 0 width height``.

    Squares are numbered as player 0 sees them; `perspective` is the player at the bottom.
    """

    ranks: int
    files: int
    perspective: int = 0
    hand: str = ""
    """The letters, capital, of the pieces that may be held in hand; their order is that of the
    slots, the first one nearest to the player."""

    @property
    def left(self) -> float:
        """The x of the board's left side."""
        return MARGIN + (HAND_WIDTH if self.hand else 0)

    @property
    def top(self) -> float:
        """The y of the board's upper side."""
        return MARGIN

    @property
    def width(self) -> float:
        """The width of the viewBox."""
        return 2 * self.left + self.files * SQUARE

    @property
    def height(self) -> float:
        """The height of the viewBox."""
        return 2 * self.top + self.ranks * SQUARE

    @property
    def board(self) -> Rect:
        """All squares together."""
        return Rect(self.left, self.top, self.files * SQUARE, self.ranks * SQUARE)

    def square_rect(self, square: int) -> Rect:
        """Return where `square` is."""
        rank, file = divmod(square, self.files)
        if self.perspective == 0:
            rank = self.ranks - 1 - rank
        else:
            file = self.files - 1 - file
        return Rect(self.left + file * SQUARE, self.top + rank * SQUARE, SQUARE, SQUARE)

    def square_center(self, square: int) -> tuple[float, float]:
        """Return the middle of `square`, ``(x, y)``."""
        return self.square_rect(square).center

    def hand_slot(self, player: int, piece: str) -> Rect:
        """Return where the pieces `piece` (a letter) in the hand of `player` are shown.

        The player at the bottom has them on the right, the other one on the left. Raises
        ConfigurationError for a piece that is never in hand.
        """
        if piece.upper() not in self.hand:
            raise ConfigurationError(f"no piece {piece!r} is held in hand, only {self.hand!r}")
        slot = self.hand.index(piece.upper())
        height = min(SQUARE, self.ranks * SQUARE / len(self.hand))
        if player == self.perspective:
            y = self.top + self.ranks * SQUARE - (slot + 1) * height
            return Rect(self.width - MARGIN / 2 - SQUARE, y, SQUARE, height)
        return Rect(MARGIN / 2, self.top + slot * height, SQUARE, height)


def draw_chequered_board(layout: Layout) -> str:
    """Return a chequered board; the square a1 is dark."""
    dark = [
        f"M{x:g} {y:g}h{width:g}v{height:g}h{-width:g}z"
        for square in range(layout.ranks * layout.files)
        if sum(divmod(square, layout.files)) % 2 == 0
        for x, y, width, height in [layout.square_rect(square)]
    ]
    return rect(*layout.board, fill=LIGHT_WOOD) + path("".join(dark), DARK_WOOD)


def draw_lettered_piece(letter: str, is_facing_up: bool) -> str:
    """Return a disc with the letter of the piece."""
    player = int(letter.islower())
    disc = circle(0, 0, 38, fill=FILL[player], stroke=EDGE[player], stroke_width=4)
    return disc + label(letter.upper(), 0, 0, 36, INK[player])


@dataclass(frozen=True)
class Style:
    """How a game looks. What is not given is plain."""

    draw_board: Callable[[Layout], str] = draw_chequered_board
    """Returns the SVG of the empty board, inside `Layout.board`."""

    draw_piece: Callable[[str, bool], str] = draw_lettered_piece
    """Returns the SVG of a piece around (0, 0), at most 100 wide and high, given its FEN letter and
    whether its owner sits at the bottom."""

    hand: str = ""
    """The letters, capital, of the pieces that may be held in hand."""


def style_of(game: Game) -> Style:
    """Return how `game` looks: its own `style`, that of its folder, or a plain one."""
    style = getattr(game, "style", None)
    if not isinstance(style, Style):
        style = _style_of_folder(game.id.rpartition("_v")[0])
    if style is None:
        has_hands = placement(game.state()).hands is not None
        style = Style(hand=getattr(game, "pieces", "") if has_hands else "")
    return style


@cache
def _style_of_folder(name: str) -> Style | None:
    module_name = f"deskovky.envs.{name}.drawing"
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not module_name.startswith(error.name):
            raise  # the folder has a drawing that cannot import something else
        return None
    style: Style = module.STYLE
    return style


def layout(game: Game, perspective: int = 0) -> Layout:
    """Return where the squares of `game` are in the picture; player `perspective` is at the bottom.

    Raises ConfigurationError if `perspective` is neither 0 nor 1.
    """
    check_integer("perspective", perspective, 0, 1)
    _, ranks, files = game.action_shape
    return Layout(ranks, files, perspective, style_of(game).hand)


def piece_svg(game: Game, letter: str, *, size: int = 100) -> str:
    """Return the picture of one piece, `size` pixels wide and high.

    letter: as in the FEN, a capital for player 0. Raises ConfigurationError for a piece that the
    game does not have.
    """
    try:
        piece = style_of(game).draw_piece(letter, letter.isupper())
    except KeyError:
        raise ConfigurationError(f"{game.id} has no piece {letter!r}") from None
    return _document(moved(piece, 50, 50), 100, 100, size, f"piece {letter}")


def draw(
    state: State,
    *,
    size: int = 400,
    perspective: int = 0,
    last: str | Iterable[int] | None = None,
    legal: Iterable[int] | bool | None = None,
    policy: NDArray[np.floating] | Sequence[float] | None = None,
    value: float | None = None,
    coordinates: bool = True,
    outcome: Outcome | None = None,
) -> str:
    """Return the SVG picture of a state.

    size: of the longer side, in pixels.
    perspective: the player at the bottom, 0 or 1.
    last: the turn to mark, as text or as its squares (player 0's numbers); None is the last of
        `State.history`, ``()`` marks nothing.
    legal: the actions whose targets are marked with a dot; True means all legal ones. A placement
        that is owed is marked in any case.
    policy: `[num_actions]`, a probability for each action; the squares where the likely ones end
        are tinted, the likeliest are drawn as arrows, or as circles where there is no way to go.
    value: what `to_move` can expect, from -1 (loss) to 1 (win); drawn as a bar that fills from the
        bottom player's side.
    coordinates: write the names of files and ranks beside the board.
    outcome: how the game ended, if the state does not know: by an illegal action.

    Raises ConfigurationError for an option that cannot be used.

    >>> import deskovky as dk
    >>> draw(dk.game("dobutsu_v0").state(), size=200)[:4]
    '<svg'
    """
    check_integer("size", size, 1, 10_000)
    where = layout(state.game, perspective)
    style = style_of(state.game)
    position = placement(state)
    outcome = outcome or state.outcome
    marked = _squares_of_turn(state, last, where)
    targets = _targets(state, legal, position)
    steps = [] if policy is None else _likely_steps(state, policy)
    layers = [
        rect(0, 0, where.width, where.height, rx=14, fill=PAPER),
        style.draw_board(where),
        _draw_coordinates(where) if coordinates else "",
        *(_draw_mark(where, square) for square in marked),
        _draw_heat(state, where, steps),
        _draw_pending(where, position),
        *(
            _draw_piece(style, where, letter, square)
            for square, letter in enumerate(position.board)
            if letter
        ),
        *(_draw_hand(style, where, position, player) for player in (0, 1)),
        *(
            _draw_target(style, where, position, square, letter)
            for square, letter in targets.items()
        ),
        _draw_arrows(state, where, steps),
        "" if value is None else _draw_value(where, position.to_move, value),
        _draw_side(where, position.to_move, outcome),
    ]
    if outcome is None:
        caption = f"player_{position.to_move} to move"
    else:
        caption = _outcome_text(outcome)
    return _document("".join(layers), where.width, where.height, size, caption)


class Drawable:
    """Gives a state written in Python its picture: derive from it."""

    def svg(self: State, **options: Any) -> str:
        """Return the picture as SVG text; the options are those of `draw`."""
        return draw(self, **options)

    def _repr_svg_(self: State) -> str:
        return draw(self)


def animate(
    states: Sequence[State],
    *,
    seconds_per_turn: float = 1.0,
    size: int = 400,
    perspective: int = 0,
    coordinates: bool = True,
) -> str:
    """Return one SVG in which a game plays by itself, over and over.

    states: the states to show, in order and of one game, one for each step or turn. Each is shown
        for `seconds_per_turn`; a piece that moved glides there first.

    Raises ConfigurationError for no states, or states of several games.
    """
    if not states:
        raise ConfigurationError("there is no state to show")
    game = states[0].game
    if any(state.game != game for state in states):
        raise ConfigurationError("the states are of several games")
    if not 0.01 <= seconds_per_turn <= 3600:
        raise ConfigurationError(f"seconds_per_turn = {seconds_per_turn!r}: expected 0.01 to 3600")
    check_integer("size", size, 1, 10_000)
    where = layout(game, perspective)
    style = style_of(game)
    clock = _Clock(len(states) + 1, seconds_per_turn)  # the end is shown twice as long
    positions = [placement(state) for state in states]
    marks = [
        "".join(_draw_mark(where, square) for square in _squares_of_turn(state, None, where))
        + _draw_pending(where, position)
        for state, position in zip(states, positions, strict=True)
    ]
    sides = [
        _draw_side(where, position.to_move, state.outcome)
        for state, position in zip(states, positions, strict=True)
    ]
    hands = [
        [_draw_hand(style, where, position, player) for position in positions] for player in (0, 1)
    ]
    layers = [
        rect(0, 0, where.width, where.height, rx=14, fill=PAPER),
        style.draw_board(where),
        _draw_coordinates(where) if coordinates else "",
        clock.show_all(marks),
        *_moving_pieces(style, where, positions, clock),
        *map(clock.show_all, [*hands, sides]),
    ]
    return _document("".join(layers), where.width, where.height, size, f"a game of {game.id}")


@dataclass(frozen=True)
class _Clock:
    """The time line of an animation that repeats itself."""

    num_frames: int
    seconds_per_frame: float

    def show_all(self, contents: Sequence[str]) -> str:
        """Return the contents of the frames; the last one stays."""
        parts, first = [], 0
        for frame in range(1, len(contents) + 1):
            if frame == len(contents):
                parts.append(self.show(contents[first], first, self.num_frames))
            elif contents[frame] != contents[first]:
                parts.append(self.show(contents[first], first, frame))
                first = frame
        return "".join(parts)

    def show(self, content: str, first: int, until: int, more: str = "") -> str:
        """Return `content` visible from frame `first` until before frame `until`."""
        if not content:
            return ""
        is_there = [(0, first == 0)] + [(first, True)] * (first > 0)
        is_there += [(until, False)] * (until < self.num_frames)
        values = ["inline" if visible else "none" for _, visible in is_there]
        display = ""
        if "none" in values:
            times = [frame / self.num_frames for frame, _ in is_there]
            display = self._animate("animate", "display", "discrete", values, times)
        return element("g", display + more + content, display=values[0])

    def glide(self, dx: float, dy: float, frame: int) -> str:
        """Return the movement, in the first part of `frame`, from (dx, dy) away to (0, 0)."""
        start, end = frame / self.num_frames, (frame + 0.4) / self.num_frames
        far = f"{number(dx)} {number(dy)}"
        values, times = [far, far, "0 0", "0 0"], [0, start, end, 1]
        return self._animate(
            "animateTransform", "transform", "linear", values, times, type="translate"
        )

    def _animate(
        self,
        name: str,
        attribute: str,
        mode: str,
        values: Sequence[str],
        times: Sequence[float],
        **more: str,
    ) -> str:
        return element(
            name,
            attributeName=attribute,
            calcMode=mode,
            values=";".join(values),
            keyTimes=";".join(f"{time:.5g}" for time in times),
            dur=f"{self.num_frames * self.seconds_per_frame:g}s",
            repeatCount="indefinite",
            **more,
        )


def _moving_pieces(
    style: Style, where: Layout, positions: Sequence[Placement], clock: _Clock
) -> list[str]:
    """Return every piece for as long as it stands on one square, gliding there if it moved."""
    parts: list[tuple[int, str]] = []
    no_pieces = [""] * len(positions[0].board)
    boards = [no_pieces, *(position.board for position in positions), no_pieces]
    since: dict[int, tuple[int, int]] = {}  # square -> first frame there, square it came from
    for frame in range(len(positions) + 1):
        before, now = boards[frame], boards[frame + 1]
        is_last = frame == len(positions)
        changed = [square for square in range(len(now)) if before[square] != now[square]]
        for square in changed:
            if before[square]:
                first, origin = since.pop(square)
                piece = _draw_piece(style, where, before[square], square)
                until = clock.num_frames if is_last else frame
                x, y = where.square_center(square)
                from_x, from_y = where.square_center(origin)
                glide = "" if origin == square else clock.glide(from_x - x, from_y - y, first)
                parts.append((first, clock.show(piece, first, until, glide)))
        origins = _origins(before, now)
        for square in changed:
            if now[square]:
                since[square] = frame, origins.get(square, square)
    parts.sort(key=lambda part: part[0])  # what came later lies on top
    return [part for _, part in parts]


def _origins(before: Sequence[str], now: Sequence[str]) -> dict[int, int]:
    """Return where a piece came from, by the square where it is now, if that is plain to see."""
    origins = {}
    changed = [square for square in range(len(now)) if before[square] != now[square]]
    for is_own in (str.isupper, str.islower):
        gone = [square for square in changed if is_own(before[square])]
        came = [square for square in changed if is_own(now[square])]
        if len(gone) == 1:  # a turn can put another piece on the board as well
            same = [square for square in came if now[square] == before[gone[0]]] or came
            if len(same) == 1:
                origins[same[0]] = gone[0]
    return origins


def _document(content: str, width: float, height: float, size: int, caption: str) -> str:
    scale = size / max(width, height)
    return element(
        "svg",
        content,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(width)} {number(height)}",
        width=round(width * scale),
        height=round(height * scale),
        role="img",
        aria_label=caption,
    )


# --- What a text means --------------------------------------------------------------------------


def turn_squares(game: Game, turn: str) -> list[int]:
    """Return the squares that the text of a turn or step names, in order.

    >>> import deskovky as dk
    >>> turn_squares(dk.game("dobutsu_v0"), "b2b3"), turn_squares(dk.game("dobutsu_v0"), "C@a1")
    ([4, 7], [0])
    """
    _, ranks, files = game.action_shape
    squares = []
    for file_name, rank_name in re.findall(r"([a-z])([1-9]\d*)", turn):
        file, rank = ord(file_name) - ord("a"), int(rank_name) - 1
        if file < files and rank < ranks:
            squares.append(rank * files + file)
    return squares


def dropped_piece(step: str) -> str | None:
    """Return the letter of the piece that a step puts on the board, None for a move.

    >>> dropped_piece("C@b2"), dropped_piece("b2b3")
    ('C', None)
    """
    match = re.match(r"([A-Z])@", step)
    return match and match[1]


def _squares_of_turn(state: State, last: str | Iterable[int] | None, where: Layout) -> list[int]:
    if last is None:
        history = state.history
        last = history[-1] if history else ()
    if isinstance(last, str):
        return list(dict.fromkeys(turn_squares(state.game, last)))
    squares = list(dict.fromkeys(last))
    for square in squares:
        check_integer("a square of last", square, 0, where.ranks * where.files - 1)
    return squares


def _targets(
    state: State, legal: Iterable[int] | bool | None, position: Placement
) -> dict[int, str]:
    """Return the squares to mark, each with the letter of the piece put there, or nothing."""
    owes_placement = position.pending == "@" and not state.is_over
    actions: Iterable[int] = ()
    if legal is True or (legal is None and owes_placement):
        actions = state.legal_actions().tolist()
    elif not isinstance(legal, bool | None):
        actions = legal
    targets: dict[int, str] = {}
    for action in actions:
        check_integer("a legal action", action, 0, state.game.num_actions - 1)
        step = state.action_to_text(action)
        for square in turn_squares(state.game, step)[-1:]:
            letter = dropped_piece(step) if owes_placement else None
            targets[square] = _of_player(letter or "", position.to_move)
    return targets


def _of_player(letter: str, player: int) -> str:
    return letter.lower() if player else letter


# --- Layers of the picture ----------------------------------------------------------------------


def _draw_coordinates(where: Layout) -> str:
    board, parts = where.board, []
    height = 16 + where.ranks  # a large board is shown small
    for file in range(where.files):
        x, _ = where.square_center(file)
        name = chr(ord("a") + file)
        parts.append(label(name, x, board.y + board.height + 20, height, LABEL, 0.1))
    for rank in range(where.ranks):
        _, y = where.square_center(rank * where.files)
        parts.append(label(str(rank + 1), board.x - 21, y, height, LABEL, 0.1))
    return group(parts)


def _draw_mark(where: Layout, square: int) -> str:
    x, y, width, height = where.square_rect(square)
    tint = rect(x, y, width, height, fill=BLUE, fill_opacity=0.22)
    return tint + rect(
        x + 4, y + 4, width - 8, height - 8, fill="none", stroke=BLUE, stroke_width=5
    )


def _draw_pending(where: Layout, position: Placement) -> str:
    """Ring the piece that must go on jumping."""
    names = re.fullmatch(r"([a-z])(\d+)", position.pending)
    if names is None:
        return ""
    square = (int(names[2]) - 1) * where.files + ord(names[1]) - ord("a")
    x, y = where.square_center(square)
    return circle(x, y, 46, fill=ORANGE, fill_opacity=0.35, stroke=ORANGE, stroke_width=7)


def _draw_piece(style: Style, where: Layout, letter: str, square: int) -> str:
    is_facing_up = int(letter.islower()) == where.perspective
    return moved(_piece(style, letter, is_facing_up), *where.square_center(square))


@lru_cache(maxsize=256)
def _piece(style: Style, letter: str, is_facing_up: bool) -> str:
    return style.draw_piece(letter, is_facing_up)


def _draw_target(style: Style, where: Layout, position: Placement, square: int, letter: str) -> str:
    """Return a dot on an empty square, a ring around a piece that can be captured."""
    x, y = where.square_center(square)
    if position.board[square]:
        ring = circle(x, y, 45, fill="none", stroke="white", stroke_width=10)
        return ring + circle(x, y, 45, fill="none", stroke=GREEN, stroke_width=6)
    ghost = ""
    if letter:
        ghost = group([_draw_piece(style, where, letter, square)], opacity=0.35)
    return ghost + circle(x, y, 14, fill=GREEN, stroke="white", stroke_width=4)


def _draw_hand(style: Style, where: Layout, position: Placement, player: int) -> str:
    """Return the slots of one player's hand; the empty ones are pale."""
    parts = []
    counts = Counter((position.hands or ("", ""))[player])
    for letter in where.hand:
        slot = where.hand_slot(player, letter)
        x, y = slot.center
        piece = _piece(style, _of_player(letter, player), player == where.perspective)
        piece = moved(piece, x, y, 0.82 * slot.height / SQUARE)
        if not counts[letter]:
            piece = group([piece], opacity=0.12)
        parts.append(piece)
        if counts[letter] > 1:
            parts.append(_draw_count(x + 32, y + 28, counts[letter]))
    return "".join(parts)


def _draw_count(x: float, y: float, count: int) -> str:
    disc = circle(x, y, 17, fill=ORANGE, stroke="white", stroke_width=3)
    return disc + label(str(count), x, y, 18, "white", 0.16)


def _likely_steps(
    state: State, policy: NDArray[np.floating] | Sequence[float]
) -> list[tuple[str, float]]:
    """Return the texts of the steps that a policy may well make, the likeliest first."""
    try:
        probabilities = np.asarray(policy, np.float64)
    except (TypeError, ValueError):
        raise ConfigurationError("policy holds what are no numbers") from None
    if probabilities.shape != (state.game.num_actions,):
        raise ConfigurationError(
            f"policy has shape {probabilities.shape}, not ({state.game.num_actions},)"
        )
    if not (np.isfinite(probabilities).all() and (probabilities >= 0).all()):
        raise ConfigurationError("policy holds numbers that are no probabilities")
    return [
        (state.action_to_text(action), float(probabilities[action]))
        for action in np.argsort(-probabilities, kind="stable").tolist()
        if probabilities[action] >= MIN_PROBABILITY
    ]


def _draw_heat(state: State, where: Layout, steps: Sequence[tuple[str, float]]) -> str:
    """Tint the squares where the steps end, the darker the likelier."""
    heat: defaultdict[int, float] = defaultdict(float)
    for step, probability in steps:
        for square in turn_squares(state.game, step)[-1:]:
            heat[square] += min(1.0, probability)
    return "".join(
        rect(*where.square_rect(square), fill=VIOLET, fill_opacity=0.5 * min(1.0, share))
        for square, share in heat.items()
    )


def _draw_arrows(state: State, where: Layout, steps: Sequence[tuple[str, float]]) -> str:
    parts = []
    for step, probability in reversed(steps[:MAX_ARROWS]):  # the likeliest on top
        squares = turn_squares(state.game, step)
        if not squares:
            continue  # a pass
        ends = [where.square_center(square) for square in squares]
        piece = dropped_piece(step)
        if piece is not None and piece in where.hand:
            ends.insert(0, where.hand_slot(state.to_move, piece).center)
        shape = _draw_arrow(ends[0], ends[-1], probability)
        title = element("title", f"{step} {probability:.0%}")
        parts.append(group([title, shape], opacity=0.4 + 0.5 * min(1.0, probability)))
    return "".join(parts)


def _draw_arrow(start: tuple[float, float], end: tuple[float, float], probability: float) -> str:
    """Return an arrow, the thicker the likelier; a circle if there is no way to go."""
    half = 4 + 9 * math.sqrt(min(1.0, probability))
    length = math.dist(start, end)
    if length == 0:
        return circle(*end, 2.5 * half + 8, fill="none", stroke=VIOLET, stroke_width=half)
    begin, tip, head = 22.0, length - 8, 2.6 * half
    neck = tip - 1.5 * head
    d = (
        f"M{number(begin)} {number(-half)}H{number(neck)}V{number(-head)}L{number(tip)} 0"
        f"L{number(neck)} {number(head)}V{number(half)}H{number(begin)}Z"
    )
    angle = math.degrees(math.atan2(end[1] - start[1], end[0] - start[0]))
    return moved(path(d, VIOLET, "white", 2), *start, turn=angle)


def _draw_value(where: Layout, to_move: int, value: float) -> str:
    if not -1 <= value <= 1:
        raise ConfigurationError(f"value = {value!r}: expected a number from -1 to 1")
    bottom = where.perspective
    share = (1 + (value if to_move == bottom else -value)) / 2
    board = where.board
    x, y, width, height = board.x + board.width + 14, board.y + 42, 16, board.height - 84
    parts = [
        rect(x, y, width, height, fill=FILL[1 - bottom]),
        rect(x, y + height * (1 - share), width, height * share, fill=FILL[bottom]),
        rect(x, y, width, height, fill="none", stroke=LABEL, stroke_width=3),
        path(f"M{number(x - 3)} {number(y + height / 2)}h{number(width + 6)}", "none", ORANGE, 3),
    ]
    return group(parts)


def _draw_side(where: Layout, to_move: int, outcome: Outcome | None) -> str:
    """Return the mark of the player to move, or both players' scores and what ended the game."""
    board, parts = where.board, []
    x = board.x + board.width + 22
    for player in (0, 1):
        y = board.y + board.height - 18 if player == where.perspective else board.y + 18
        if outcome is not None:
            score = "½" if outcome.winner is None else str(int(outcome.winner == player))
            paint = {"fill": FILL[player], "stroke": EDGE[player], "stroke_width": 3}
            parts.append(rect(x - 16, y - 16, 32, 32, rx=6, **paint))
            parts.append(label(score, x, y, 19, INK[player], 0.14))
        elif player == to_move:
            parts.append(circle(x, y, 15, fill="none", stroke=BLUE, stroke_width=4))
            parts.append(circle(x, y, 10, fill=FILL[player], stroke=EDGE[player], stroke_width=3))
    if outcome is not None:
        text = _outcome_text(outcome).replace("_", " ")
        height = min(20, board.width / len(text))
        parts.append(label(text, board.x + board.width / 2, board.y - 22, height, LABEL, 0.1))
    return "".join(parts)


def _outcome_text(outcome: Outcome) -> str:
    if outcome.winner is None:
        return f"{'stopped' if outcome.is_truncation else 'draw'}: {outcome.termination}"
    return f"player_{outcome.winner} won: {outcome.termination}"
