"use strict";
// The key of the seat follows the "#" of the address, which servers do not log and other sites cannot read.
const key = location.hash.slice(1);
const at = id => document.getElementById(id);
const PACES = [[2, "slow"], [0.8, "normal"], [0.25, "fast"], [0, "at once"]];
let state = null, chosen = null, best = null, asking = false, retry = 0;

// requests

async function ask(path, body) {
  const options = { headers: { Authorization: `Bearer ${key}` }, cache: "no-store" };
  if (body !== undefined) {
    options.method = "POST";
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const answer = await fetch(`api/${path}`, options);
  if (answer.ok) return answer;
  const failure = await answer.json().catch(() => ({ error: `the server answers ${answer.status}` }));
  throw Object.assign(new Error(failure.error), { status: answer.status });
}

async function send(path, more) {
  if (asking || !state) return null;
  asking = true;
  try {
    return await ask(path, { version: state.version, ...more });
  } catch (error) {
    trouble(error.status ? error.message : "the server does not answer");
    return null;
  } finally {
    asking = false;
    refresh();
  }
}

async function refresh() {
  try {
    take(await (await ask("state")).json());
  } catch (error) { /* `follow` reports it */ }
}

async function follow() {
  for (;;) {
    // A hidden tab holds no open request: browsers limit connections per site, and many tabs may be open.
    if (document.hidden && state) await new Promise(done => document.addEventListener("visibilitychange", done, { once: true }));
    try {
      take(await (await ask(`state?after=${state ? state.version : 0}`)).json());
      if (retry) trouble("");
      retry = 0;
    } catch (error) {
      trouble(error.status ? error.message : "the server does not answer; is it still running?");
      if (error.status === 401) return;
      retry = Math.min(5000, 500 + 2 * retry);
      await new Promise(done => setTimeout(done, retry));
    }
  }
}

function take(news) {
  if (state && news.version <= state.version) return;
  if (!state || news.version !== state.version) { chosen = null; best = null; at("advice").textContent = ""; trouble(""); }
  state = news;
  draw();
}

// drawing

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function tile([low, high]) {
  const spinner = low === high ? " spinner" : "", inset = low === high ? 0.15 : 0.07;
  return `<svg viewBox="0 0 2 4" aria-hidden="true"><rect class="tile${spinner}" x="${inset}" y="${inset}" width="${2 - 2 * inset}" height="${4 - 2 * inset}" rx=".3"/>`
    + `<path class="split" d="M.35 2h1.3"/><use href="#p${low}" x="1" y="1"/><use href="#p${high}" x="1" y="3"/></svg>`;
}
const BACK = '<svg viewBox="0 0 2 4" aria-hidden="true"><rect class="back" width="2" height="4" rx=".3"/></svg>';
const name = seat => state.players[seat];
const called = seat => `${name(seat)} (seat ${seat})`;
const same = (a, b) => a[0] === b[0] && a[1] === b[1];
const optionsOf = held => state.options.filter(option => same(option.tile, held));

function draw() {
  const body = document.body.dataset;
  Object.assign(body, { version: state.version, match: state.match, round: state.round, phase: state.phase, scores: state.scores.join(" "), yourTurn: state.your_turn });
  document.title = (state.your_turn ? "● " : "") + "Five Up";
  drawScores();
  drawBoard();
  drawHand();
  drawOthers();
  drawLog();
  at("status").textContent = status();
  at("sum").textContent = state.board.svg ? `ends ${state.end_sum} · boneyard ${state.boneyard} · round ${state.round}` : `no tile placed · round ${state.round}`;
  at("next").hidden = state.phase !== "next";
  at("hint").disabled = !state.can_hint;
  at("undo").hidden = !state.practice;
  at("undo").disabled = !state.can_undo;
  at("replay").hidden = at("record").hidden = state.phase !== "over";
  at("pace").value = String(state.pace);
  if (state.error) trouble(`${state.error}. Start a new match.`);
  else if (state.warning) trouble(state.warning);
  if (state.phase === "next") at("next").focus({ preventScroll: true });
}

function status() {
  const line = state.log.length ? state.log[state.log.length - 1] : null;
  if (state.phase === "over") return `The match is over: ${sideName(state.winner)} wins with exactly ${state.target} points.`;
  if (state.phase === "next") return `The round is over: ${line.text}. All hands are shown.`;
  if (state.phase === "error") return "An agent has failed.";
  if (!state.your_turn) return `${called(state.turn)} is to act.`;
  if (chosen === null) return "Your turn: choose a tile.";
  return "Choose a place for the tile.";
}

function sideName(side) {
  return state.players.map((_, seat) => seat).filter(seat => seat % state.sides === side).map(name).join(" + ");
}

function drawScores() {
  at("scores").replaceChildren(...state.scores.map((score, side) => {
    const bar = make("span");
    bar.style.width = `${Math.max(0, Math.min(1, score / state.target)) * 100}%`;
    const own = side === state.seat % state.sides ? ", you" : "";
    return make("div", { className: "score" },
      make("div", { className: "who" }, make("span", { className: "name" }, sideName(side), make("span", { className: "dim" }, ` (side ${side}${own})`)), make("span", {}, `${score} of ${state.target}`)),
      make("div", { className: "bar" }, bar));
  }));
}

function drawBoard() {
  const board = at("board");
  board.setAttribute("viewBox", state.board.view);
  const shown = chosen === null ? [] : optionsOf(chosen);
  const targets = shown.map((option, number) => option.spot === undefined ? "" :
    `<g class="target" role="button" tabindex="0" data-action="${option.action}"><title></title><circle cx="${option.spot[0]}" cy="${option.spot[1]}" r="1.15"/><text x="${option.spot[0]}" y="${option.spot[1] + 0.55}">${number + 1}</text></g>`);
  board.innerHTML = state.board.svg + targets.join("");
  for (const target of board.querySelectorAll(".target"))
    target.querySelector("title").textContent = state.options.find(option => String(option.action) === target.dataset.action).text;
  at("places").replaceChildren(...shown.map((option, number) => {
    const button = make("button", { type: "button" }, `${number + 1}: ${option.text}`);
    button.dataset.action = option.action;
    return button;
  }));
}

function drawHand() {
  const hand = state.hands[state.seat], focused = document.activeElement && document.activeElement.dataset.tile;
  at("hand").replaceChildren(...hand.map((held, number) => {
    const options = optionsOf(held), button = make("button", { type: "button", innerHTML: tile(held) });
    button.dataset.tile = held.join("|");
    button.disabled = options.length === 0;
    button.setAttribute("aria-label", `${held[0]} ${held[1]}`);
    button.setAttribute("aria-pressed", String(chosen !== null && same(chosen, held)));
    button.title = options.length ? `${number + 1}: ${options.map(option => option.text).join("; ")}` : "cannot be placed now";
    button.classList.toggle("best", best !== null && same(best, held));
    return button;
  }));
  const again = focused && [...at("hand").children].find(button => button.dataset.tile === focused && !button.disabled);
  if (again) again.focus();
}

function drawOthers() {
  at("others").replaceChildren(...state.players.map((_, seat) => seat).filter(seat => seat !== state.seat).map(seat => {
    const hand = state.hands[seat], size = Array.isArray(hand) ? hand.length : hand;
    const partner = seat % state.sides === state.seat % state.sides ? ", your partner" : "";
    const tiles = make("div", { className: "tiles", innerHTML: Array.isArray(hand) ? hand.map(tile).join("") : BACK.repeat(size) });
    tiles.append(make("span", { className: "dim" }, ` ${size}`));
    return make("div", { className: `other${seat === state.turn ? " turn" : ""}` },
      make("span", { className: "name" }, name(seat)), make("span", { className: "dim" }, ` seat ${seat}${partner}`), tiles);
  }));
}

function drawLog() {
  at("log").replaceChildren(...[...state.log].reverse().map(entry => {
    const line = make("li", {}, entry.seat === null ? `Round ${entry.round}: ${entry.text}` : `${called(entry.seat)}: ${entry.text}`);
    for (const event of entry.events) line.append(" ", make("span", { className: "event" }, `[${event}]`));
    return line;
  }));
}

function trouble(text) {
  at("trouble").textContent = text;
  at("trouble").hidden = text === "";
}

// actions of a person

function choose(held) {
  if (!state.your_turn) return;
  const options = optionsOf(held);
  if (options.length === 1) return act(options[0].action);
  if (!options.length) return;
  chosen = chosen !== null && same(chosen, held) ? null : held;
  drawBoard();
  drawHand();
  at("status").textContent = status();
  const first = at("places").querySelector("button");
  if (first) first.focus({ preventScroll: true });
}

const act = action => send("act", { action: Number(action) });

async function hint() {
  if (!state || !state.can_hint || asking) return;
  const answer = await send("hint", {});
  if (!answer) return;
  const thought = await answer.json();
  const ranked = Object.entries(thought.values || thought.probabilities || {}).sort((a, b) => b[1] - a[1]);
  const columns = [["values", "chance to win", thought.win ? v => `${(100 * v).toFixed(1)}%` : v => v.toFixed(2)], ["probabilities", "policy", v => `${(100 * v).toFixed(0)}%`]].filter(([key]) => thought[key]);
  const table = make("table"), head = table.insertRow();
  for (const text of ["placement", ...columns.map(column => column[1])]) head.append(make("th", {}, text));
  ranked.forEach(([action], number) => {
    const row = table.insertRow();
    row.className = number ? "" : "best";
    row.insertCell().textContent = thought.names[action];
    for (const [key, , show] of columns) Object.assign(row.insertCell(), { className: "number", textContent: show(thought[key][action]) });
  });
  at("advice").replaceChildren(make("h2", {}, "Hint"), ...(ranked.length ? [table] : []), ...(thought.note ? [make("p", {}, thought.note)] : []));
  const first = ranked.length && state.options.find(option => option.action === Number(ranked[0][0]));
  best = first ? first.tile : null;
  drawHand();
}

async function save(what, file) {
  try {
    const link = make("a", { href: URL.createObjectURL(await (await ask(what)).blob()), download: file });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  } catch (error) { trouble(error.message); }
}

function setup() {
  const people = state.seating.filter(agent => agent === "you").length, count = Number(at("players").value);
  const names = state.agents[count], kept = count === state.seating.length;
  at("seats").replaceChildren(...Array.from({ length: count }, (_, seat) => {
    const select = make("select", {}, ...["you", ...names].map(agent => make("option", { value: agent }, agent)));
    select.value = kept ? state.seating[seat] : seat < people ? "you" : names.includes("pimc") ? "pimc" : names[0];
    return make("label", {}, `Seat ${seat}${count === 4 ? ` (side ${seat % 2})` : ""} `, select);
  }));
}

async function deal() {
  const seating = [...at("seats").querySelectorAll("select")].map(select => select.value);
  at("setup").close();
  await send("new", { seating });
}

// events

const steps = { next: () => send("next", {}), hint, undo: () => send("undo", {}), replay: () => save("replay", "match.html"), record: () => save("record", "match.jsonl"),
  new: () => { if (!state) return; at("players").value = String(state.seating.length); setup(); at("setup").showModal(); },
  start: deal, cancel: () => at("setup").close(),
  theme: () => { const root = document.documentElement.dataset; root.theme = root.theme === "dark" ? "light" : "dark"; localStorage.setItem("theme", root.theme); } };
for (const [id, action] of Object.entries(steps)) at(id).addEventListener("click", action);
at("players").addEventListener("change", setup);
at("pace").append(...PACES.map(([seconds, text]) => make("option", { value: String(seconds) }, text)));
at("pace").addEventListener("change", () => send("pace", { pace: Number(at("pace").value) }));
at("hand").addEventListener("click", event => {
  const button = event.target.closest("button");
  if (button && !button.disabled) choose(button.dataset.tile.split("|").map(Number));
});
for (const id of ["places", "board"]) at(id).addEventListener("click", event => {
  const target = event.target.closest("[data-action]");
  if (target) act(target.dataset.action);
});

function move(step) {
  const buttons = [...at(chosen === null ? "hand" : "places").querySelectorAll("button:not(:disabled)")];
  if (!buttons.length) return;
  const now = buttons.indexOf(document.activeElement);
  buttons[(now < 0 ? (step > 0 ? 0 : buttons.length - 1) : now + step + buttons.length) % buttons.length].focus();
}

document.addEventListener("keydown", event => {
  if (!state || at("setup").open || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select")) return;
  if (event.target.matches(".target") && (event.key === "Enter" || event.key === " ")) { event.preventDefault(); return act(event.target.dataset.action); }
  if (/^[1-9]$/.test(event.key)) {
    const number = Number(event.key) - 1;
    const button = at(chosen === null ? "hand" : "places").children[number];
    if (button && !button.disabled) button.click();
    return;
  }
  const clicked = { h: "hint", u: "undo", n: "next" }[event.key.toLowerCase()];
  const done = clicked ? () => { if (!at(clicked).hidden && !at(clicked).disabled) at(clicked).click(); }
    : { ArrowLeft: () => move(-1), ArrowRight: () => move(1), Escape: () => { chosen = null; draw(); move(1); } }[event.key];
  if (done) { event.preventDefault(); done(); }
});

document.documentElement.dataset.theme = localStorage.getItem("theme") || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
addEventListener("hashchange", () => location.reload());
follow();
