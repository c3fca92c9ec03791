// The front end of dk.board: it shows what the kernel sends and says what was clicked. It knows no
// rules, loads nothing and keeps nothing, so that several views of one board show the same.

/** Return a new element with a class, a text and children. */
function make(tag, name, text = "", children = []) {
  const element = document.createElement(tag);
  element.className = `deskovky-${name}`;
  element.textContent = text;
  element.append(...children);
  return element;
}

/** Return a button that calls `action`. */
function makeButton(name, text, action) {
  const button = make("button", name, text);
  button.type = "button";
  button.addEventListener("click", action);
  return button;
}

function render({ model, el }) {
  const send = (command, ...arguments_) => model.send({ command, arguments: arguments_ });

  // The picture, in a shadow tree: the ids in one picture must not meet those of another.
  const canvas = make("div", "canvas");
  const shadow = canvas.attachShadow({ mode: "open" });
  const squares = make("div", "squares");
  const picture = make("div", "picture", "", [canvas, squares]);

  const status = make("div", "status");
  status.setAttribute("role", "status");
  const notice = make("div", "notice");
  notice.setAttribute("role", "status");
  const top = make("div", "player");
  const bottom = make("div", "player");
  const choices = make("div", "choices");
  const turns = make("div", "turns");
  const analysis = make("div", "analysis");
  const tools = {
    new_game: makeButton("tool", "New game", () => send("new_game")),
    undo: makeButton("tool", "Undo", () => send("undo")),
    flip: makeButton("tool", "Flip", () => send("flip")),
    analysis: makeButton("tool", "Analysis", () => send("analysis")),
    go_on: makeButton("tool", "Go on", () => send("go_on")),
  };
  for (const [name, button] of Object.entries(tools)) button.dataset.command = name;
  const toolbar = make("div", "tools", "", Object.values(tools));
  const side = make("div", "side", "", [
    top, turns, analysis, choices, notice, status, bottom, toolbar,
  ]);
  const root = make("div", "board", "", [picture, side]);
  el.append(root);

  /** Lay a button over every spot. */
  function showSpots() {
    const { aspect, spots } = model.get("spots");
    const size = model.get("size");
    picture.style.width = `${aspect < 1 ? size * aspect : size}px`;
    picture.style.aspectRatio = String(aspect);
    const focused = squares.contains(document.activeElement) && document.activeElement.dataset.spot;
    squares.replaceChildren();
    for (const [spot, [x, y, width, height]] of Object.entries(spots)) {
      const button = makeButton("spot", "", () => send("click", spot));
      button.dataset.spot = spot;
      button.setAttribute("aria-label", spot.replace("@", " in hand"));
      button.style.left = `${100 * x}%`;
      button.style.top = `${100 * y}%`;
      button.style.width = `${100 * width}%`;
      button.style.height = `${100 * height}%`;
      squares.append(button);
      if (spot === focused) button.focus();
    }
  }

  /** Show a player: who it is and whether it is to move. */
  function showPlayer(element, player, shown) {
    element.textContent = shown.players[player];
    element.dataset.player = player;
    element.classList.toggle("deskovky-to-move", shown.to_move === player);
  }

  function show() {
    const shown = model.get("shown");
    shadow.innerHTML = `<style>svg { display: block; width: 100%; height: 100%; }</style>`;
    shadow.innerHTML += shown.svg;
    const clicked = new Set(shown.clicked);
    const next = new Set(shown.next);
    for (const button of squares.children) {
      const { spot } = button.dataset;
      button.classList.toggle("deskovky-clicked", clicked.has(spot));
      button.classList.toggle("deskovky-next", next.has(spot));
      button.tabIndex = next.has(spot) ? 0 : -1;
    }
    showPlayer(bottom, shown.perspective, shown);
    showPlayer(top, 1 - shown.perspective, shown);
    status.textContent = shown.status;
    notice.textContent = shown.notice;
    analysis.textContent = shown.analysis ?? "";
    root.classList.toggle("deskovky-busy", shown.is_busy);
    root.classList.toggle("deskovky-over", shown.is_over);
    choices.replaceChildren(
      ...shown.choices.map((move) => makeButton("choice", move, () => send("choose", move))),
    );
    turns.replaceChildren(...shown.turns.flat().map((text) => make("span", "turn", text)));
    turns.scrollTop = turns.scrollHeight;
    tools.undo.disabled = !shown.can_undo;
    tools.analysis.hidden = !shown.has_advisor;
    tools.analysis.setAttribute("aria-pressed", String(shown.analysis !== null));
    tools.go_on.hidden = !shown.is_paused;
  }

  function showAll() {
    showSpots();
    show();
  }

  model.on("change:shown", show);
  model.on("change:spots", showAll);
  model.on("change:size", showAll);
  showAll();
  return () => {
    model.off("change:shown", show);
    model.off("change:spots", showAll);
    model.off("change:size", showAll);
  };
}

export default { render };
