"""Games clicked through with a mouse: boards in a real JupyterLab, shown by a real Chromium."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from lab import CHROMIUM, DRIVER, browser, jupyter_lab, wait_for, write_notebook

import deskovky as dk
from deskovky.notebook.selection import Selection, spots_of

if TYPE_CHECKING:
    from selenium.webdriver import Chrome
    from selenium.webdriver.remote.webelement import WebElement

for package in ("anywidget", "jupyterlab", "selenium"):
    pytest.importorskip(package)
pytestmark = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="chromium and chromedriver are not installed"
)

GAMES = {
    "dobutsu_v0": (None, "b2b3 b4b3 C@a2 b3a2 b1a2", "player_0 won: lion captured"),
    "xiangqi_v0": (
        "3k5/9/9/9/9/5R3/9/9/9/4KC3 w", "e1e2 d10d9 f5d5", "player_0 won: checkmate",
    ),
    "drakoburg_v0": (
        "t6/6Z/6P/7/2U4/7/U2T3 w", "g6g7,P@a2 a7a6 a1b3", "player_0 won: checkmate",
    ),
    "ossetian_draughts_v0": (
        "7/7/7/3m3/7/1m5/M5m w", "a1c3e5 pass e5f6 pass f6f7", "Draw: blocked",
    ),
    "medieval_battle_v0": (
        "10/2F7/5f4/10/10/2f7/10/10/6n3/C9 w", "c9d10 f8e7 d10c9 g2h2 c9i3g1b6",
        "player_0 won: no pieces",
    ),
}  # fmt: skip
"""A game of each family, from the start or near its end: the FEN, the turns and the end in words.
There are drops, a placement, turns of two and three jumps, a promotion and the button `pass`."""

CELLS = [
    "import deskovky as dk\nboards = {}",
    *(
        f"boards[{id!r}] = board = dk.board(dk.game({id!r}).state({fen!r}), black='human')\nboard"
        for id, (fen, _, _) in GAMES.items()
    ),
    "boards['agent'] = board = dk.board('dobutsu_v0', black='minimax:depth=2', seed=0)\nboard",
    "'|'.join(' '.join(board.state.history) for board in boards.values())",
]


class ShownBoard:
    """A board as the browser shows it."""

    def __init__(self, element: "WebElement") -> None:
        self.element = element

    def find(self, selector: str) -> "WebElement":
        return self.element.find_element("css selector", selector)

    def text(self, name: str) -> str:
        return self.find(f".deskovky-{name}").text

    def texts(self, selector: str, what: str) -> list[str]:
        """Return something of all elements; in one go, since they come and go."""
        script = f"""return [...arguments[0].querySelectorAll("{selector}")].map(e => e.{what})"""
        found: list[str] = self.element.parent.execute_script(script, self.element)
        return found

    def turns(self) -> list[str]:
        """The turns in the list, without their numbers."""
        texts = self.texts(".deskovky-turn", "textContent")
        return [text for i, text in enumerate(texts) if i % 3 and text]

    def clicked(self) -> list[str]:
        return self.texts(".deskovky-clicked", "dataset.spot")

    def click(self, spot: str) -> None:
        self.find(f'[data-spot="{spot}"]').click()

    def command(self, name: str) -> None:
        self.find(f'[data-command="{name}"]').click()

    def choose(self, move: str) -> None:
        button = self.find(".deskovky-choice")
        assert button.text == move
        button.click()


def test_games_are_clicked_through(tmp_path: Path) -> None:
    """One test, since a JupyterLab takes longer to start than a game to play."""
    write_notebook(tmp_path / "boards.ipynb", CELLS)
    with jupyter_lab(tmp_path) as address, browser(tmp_path) as driver:
        driver.get(address("boards.ipynb"))
        run_all(driver, len(CELLS))
        for id, board in zip(GAMES, boards(driver), strict=False):
            play_game(board, id)
        play_an_agent(boards(driver)[len(GAMES)])
        check_states(driver)
        check_log(driver)


def run_all(driver: "Chrome", num_cells: int) -> None:
    """Run all cells with the keyboard, as a user does."""
    from selenium.webdriver import ActionChains, Keys

    def click_first_cell() -> bool:
        found = driver.find_elements("css selector", ".jp-CodeCell .cm-content")
        shown = [element for element in found if element.is_displayed()]
        for element in shown[:1]:
            element.click()
        return bool(shown)

    wait_for(click_first_cell, "the cells of the notebook")
    # Keys pressed before there is a kernel may be lost.
    idle = '.jp-Notebook-ExecutionIndicator[data-status="idle"]'
    wait_for(lambda: driver.find_elements("css selector", idle), "the kernel")
    for _ in range(num_cells):
        keys = ActionChains(driver).key_down(Keys.SHIFT).send_keys(Keys.ENTER)
        keys.key_up(Keys.SHIFT).perform()
    wait_for(lambda: len(boards(driver)) == num_cells - 2, "the boards")


def boards(driver: "Chrome") -> list[ShownBoard]:
    return [ShownBoard(e) for e in driver.find_elements("css selector", ".deskovky-board")]


def play_game(board: ShownBoard, id: str) -> None:
    """Click a game of `GAMES` to its end."""
    fen, turns, end = GAMES[id]
    state = dk.game(id).state(fen)
    assert board.text("status") == "player_0: your turn" and not board.turns()
    for turn in turns.split():
        play(board, state, turn)
    assert state.is_over
    assert board.text("status") == end
    board.click("a1")
    wait_for(lambda: "The game is over" in board.text("notice"), "a notice")


def play(board: ShownBoard, state: Any, turn: str) -> None:
    """Click a turn on the board, step by step, and make it in `state`."""
    after = state.copy()
    after.push(turn)
    while state.history != after.history:
        action = next(a for a in state.legal_actions().tolist() if leads_to(state, a, turn, after))
        selection = Selection(state)
        spots = spots_of(state, action)[len(selection.clicked) :]
        if not spots:
            board.choose(turn)
        for spot in spots:
            board.click(spot)
            if selection.click(spot) is None:
                expected = list(selection.clicked)
                wait_for(lambda expected=expected: board.clicked() == expected, f"{spot} clicked")
        state.apply(action)
        wait_for(lambda: board.turns() == state.history, f"{state.history}")


def leads_to(state: Any, action: int, turn: str, after: Any) -> bool:
    """True if the step begins, or goes on with, the turn."""
    trial = state.copy()
    trial.apply(action)
    return bool(trial.history[-1] == turn or trial.is_turn_open) and after.history[-1].startswith(
        trial.history[-1]
    )


def check_states(driver: "Chrome") -> None:
    """The states in the kernel are the games that are shown: the boards are independent."""
    from selenium.webdriver import ActionChains, Keys

    cell = driver.find_elements("css selector", ".jp-CodeCell .cm-content")[len(CELLS) - 1]
    cell.click()
    keys = ActionChains(driver).key_down(Keys.CONTROL).send_keys(Keys.ENTER)
    keys.key_up(Keys.CONTROL).perform()
    shown = "|".join(" ".join(board.turns()) for board in boards(driver))
    outputs = ".jp-OutputArea-output"

    def printed() -> bool:
        texts = [e.text for e in driver.find_elements("css selector", outputs)]
        return any(text.strip("'") == shown for text in texts)

    wait_for(printed, shown)


def play_an_agent(board: ShownBoard) -> None:
    """Use all buttons of a board with an agent."""
    board.click("b4")
    wait_for(lambda: "Nothing can be done with b4" in board.text("notice"), "a notice")
    board.click("b2")
    board.click("b3")
    wait_for(lambda: len(board.turns()) == 2, "the reply")
    wait_for(lambda: board.text("status") == "Your turn", "the turn")
    board.command("analysis")
    wait_for(lambda: "value" in board.text("analysis"), "the analysis")
    pressed = board.find('[data-command="analysis"]')  # the mouse is on it, its text is white
    assert pressed.value_of_css_property("background-color") == "rgba(21, 88, 176, 1)"
    board.command("flip")
    wait_for(lambda: board.text("player") == "human", "the board turned")
    board.command("undo")
    wait_for(lambda: not board.turns(), "the undo")
    board.click("b1")
    wait_for(lambda: board.clicked() == ["b1"], "the origin")
    board.click("c2")
    wait_for(lambda: len(board.turns()) == 2, "the reply")
    board.command("new_game")
    wait_for(lambda: not board.turns(), "the new game")


def check_log(driver: "Chrome") -> None:
    """Nothing went wrong in the browser."""
    entries: list[dict[str, Any]] = driver.get_log("browser")  # type: ignore[no-untyped-call, unused-ignore]
    wrong = [entry for entry in entries if entry["level"] == "SEVERE"]
    assert not [entry for entry in wrong if "deskovky" in entry["message"]]
    assert not [entry for entry in wrong if "console-api" == entry["source"]]
