"""Xiangqi moves as players write them (WXF): ``C2=5``.

Piece, file, direction, number. Files are counted 1 to 9 from the mover's right. ``+`` is forward,
``-`` backward, ``=`` sideways. The number is the file of arrival, but for straight moves forward or
backward the number of ranks.

Of two equal pieces on a file the front one is written ``C+``, the rear one ``C-``, instead of the
file; advisors and elephants never need it. Soldiers of which three or more stand on a file, or two
or more on each of two files, are counted from the front in place of the letter: ``25=6`` is the
second soldier on file 5.
"""

from collections import defaultdict

from deskovky.envs.protocol import State
from deskovky.errors import IllegalActionError

NUM_FILES, NUM_RANKS = 9, 10
LETTERS = {"K": "K", "A": "A", "B": "E", "N": "H", "R": "R", "C": "C", "P": "P"}
SPELLINGS = str.maketrans({".": "=", "B": "E", "N": "H"})
"""What readers accept besides: ``C2.5``, and the letters of the FEN."""

Square = tuple[int, int]
"""File and rank from 0, from the mover's left and first rank."""


def action_to_wxf(state: State, action: int) -> str:
    """Return a legal action in WXF notation.

    Raises IllegalActionError if the action is not legal.

    >>> import deskovky as dk
    >>> state = dk.game("xiangqi_v0").state()
    >>> action_to_wxf(state, state.action_from_text("h3e3"))
    'C2=5'
    """
    if action not in state.legal_actions():
        raise IllegalActionError(f"action {action} is not legal in {state.fen()!r}")
    return _texts(state, [int(action)])[0]


def action_from_wxf(state: State, text: str) -> int:
    """Return the legal action that `text` means in WXF notation.

    Raises IllegalActionError if there is none.
    """
    actions = state.legal_actions().tolist()
    texts = _texts(state, actions)
    wanted = text.strip().upper().translate(SPELLINGS)
    if wanted not in texts:
        raise IllegalActionError(
            f"{text!r} is not a legal move in {state.fen()!r}; legal: {' '.join(texts)}"
        )
    return int(actions[texts.index(wanted)])


def _texts(state: State, actions: list[int]) -> list[str]:
    pieces = _own_pieces(state)
    texts = []
    for action in actions:
        origin, target = _squares(state, action)
        letter, ranks = pieces[origin], target[1] - origin[1]
        sign = "+" if ranks > 0 else "-" if ranks < 0 else "="
        is_straight = ranks != 0 and target[0] == origin[0]
        number = abs(ranks) if is_straight else NUM_FILES - target[0]
        texts.append(f"{_name(pieces, letter, origin)}{sign}{number}")
    return texts


def _name(pieces: dict[Square, str], letter: str, origin: Square) -> str:
    """Return the piece and its place: ``C2``, ``C+`` or, of many soldiers, ``25``."""
    file = NUM_FILES - origin[0]
    by_file: dict[int, list[int]] = defaultdict(list)  # ranks, from the front
    for (piece_file, rank), other in sorted(pieces.items(), reverse=True):
        if other == letter:
            by_file[piece_file].append(rank)
    ranks = by_file[origin[0]]
    if letter in "AE" or len(ranks) == 1:
        return f"{letter}{file}"
    is_crowd = len(ranks) > 2 or sum(len(others) > 1 for others in by_file.values()) > 1
    if is_crowd:  # only soldiers can be so many
        return f"{ranks.index(origin[1]) + 1}{file}"
    return letter + "+-"[ranks.index(origin[1])]


def _own_pieces(state: State) -> dict[Square, str]:
    """Return the WXF letters of the mover's pieces by square."""
    pieces = {}
    for row, rank in enumerate(state.fen().split(" ")[0].split("/")):
        file = 0
        for letter in rank:
            if letter.isdigit():
                file += int(letter)
                continue
            if letter.islower() == (state.to_move == 1):
                square = _own_view(state, file, NUM_RANKS - 1 - row)
                pieces[square] = LETTERS[letter.upper()]
            file += 1
    return pieces


def _squares(state: State, action: int) -> tuple[Square, Square]:
    text = state.action_to_text(action)
    cut = next(i for i in range(1, len(text)) if text[i].isalpha())
    origin, target = (
        _own_view(state, "abcdefghi".index(name[0]), int(name[1:]) - 1)
        for name in (text[:cut], text[cut:])
    )
    return origin, target


def _own_view(state: State, file: int, rank: int) -> Square:
    if state.to_move == 0:
        return file, rank
    return NUM_FILES - 1 - file, NUM_RANKS - 1 - rank
