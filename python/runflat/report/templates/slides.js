"use strict";
// Steps through the failures: adds up what each changed, plays the slides, answers keys and pointers.
(function () {
  const data = JSON.parse(document.getElementById("slides-data").textContent);
  const grid = slidesGrid(data);
  const element = (id) => document.getElementById("slides-" + id);
  const canvas = element("grid");
  const pen = canvas.getContext("2d");
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  const prefersStill = window.matchMedia("(prefers-reduced-motion: reduce)");
  const last = data.steps.length;
  const nodes = data.shape.reduce((a, b) => a * b, 1);
  let printing = false;
  let at = 0; // failures shown
  let moving = null; // { from, started } while ranks slide
  let timer = null;
  let cursor = null;
  let pitch = 20;
  let view = null;

  // What is where after so many failures.
  const states = [];
  function state(step) {
    if (states.length === 0) {
      const rank = new Int32Array(nodes).fill(-1);
      data.ranks.forEach((node, number) => { rank[node] = number; });
      states.push({ rank, failed: new Set(), used: new Set(data.ranks), moved: new Map(),
        loads: data.loads && Uint16Array.from(data.loads) });
    }
    while (states.length <= step) {
      const before = states[states.length - 1];
      const change = data.steps[states.length - 1];
      const now = { rank: before.rank.slice(), failed: new Set(before.failed), used: new Set(before.used),
        moved: new Map(), loads: before.loads };
      now.failed.add(change.failed);
      for (let i = 0; i < change.moves.length; i += 3) now.rank[change.moves[i + 1]] = -1;
      for (let i = 0; i < change.moves.length; i += 3) {
        const [who, from, to] = change.moves.slice(i, i + 3);
        now.rank[to] = who;
        now.used.add(to);
        now.moved.set(to, from);
      }
      if (before.loads && change.loads.length) {
        now.loads = before.loads.slice();
        for (let i = 0; i < change.loads.length; i += 2) now.loads[change.loads[i]] = change.loads[i + 1];
      }
      states.push(now);
    }
    return states[step];
  }

  function kind(now, node) {
    if (now.failed.has(node)) return "failed";
    if (now.rank[node] < 0) return now.used.has(node) ? "vacated" : "spare";
    return now.moved.has(node) ? "moved" : "rank";
  }

  // The plane that holds the failed node and most moves of the step.
  function follow(step) {
    const change = data.steps[Math.max(step, 1) - 1];
    if (!change) return [2, 0];
    let best = null;
    for (const across of [2, 1, 0]) {
      const depth = grid.coordinate(change.failed, across);
      let inside = 0;
      for (let i = 0; i < change.moves.length; i += 3)
        inside += grid.coordinate(change.moves[i + 1], across) === depth
          && grid.coordinate(change.moves[i + 2], across) === depth;
      if (!best || inside > best[2]) best = [across, depth, inside];
    }
    return best;
  }

  function choosePlane() {
    if (grid.dimensions < 3) {
      view = grid.plane(2, 0);
      return;
    }
    const chosen = element("plane").value;
    const depth = element("depth");
    const following = follow(at);
    const across = chosen === "" ? following[0] : Number(chosen);
    depth.disabled = chosen === "";
    depth.max = String(data.shape[across] - 1);
    if (chosen === "") depth.value = String(following[1]);
    view = grid.plane(across, Number(depth.value));
    const text = `${grid.names[view.right]} and ${grid.names[view.down]} at ${grid.names[across]} = ${depth.value}`;
    element("depth-text").textContent = text;
    depth.setAttribute("aria-valuetext", text);
  }

  function colours() {
    return printing || !prefersDark.matches ? data.light : data.dark;
  }

  function size() {
    const wide = canvas.parentElement.clientWidth - grid.edge.left - grid.edge.right;
    const high = Math.max(window.innerHeight * 0.82, 420) - grid.edge.top;
    pitch = Math.max(9, Math.min(46, wide / view.columns, high / view.rows));
    const width = Math.ceil(grid.edge.left + view.columns * pitch + grid.edge.right);
    const height = Math.ceil(grid.edge.top + view.rows * pitch + grid.edge.bottom);
    const sharp = Math.max(window.devicePixelRatio || 1, printing ? 2 : 1);
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
    if (canvas.width !== Math.round(width * sharp) || canvas.height !== Math.round(height * sharp)) {
      canvas.width = Math.round(width * sharp);
      canvas.height = Math.round(height * sharp);
    }
    pen.setTransform(sharp, 0, 0, sharp, 0, 0);
    pen.clearRect(0, 0, width, height);
  }

  // Draws the state; `part` below 1 is on the way to it.
  function draw(part) {
    const paint = colours();
    const now = state(at);
    const before = part < 1 ? state(at - 1) : now;
    const change = at > 0 ? data.steps[at - 1] : null;
    size();
    grid.drawAxes(pen, paint, view, pitch);
    let found = null;
    if (now.loads) {
      pen.globalAlpha = part < 1 ? 0.35 : 1;
      found = grid.drawChannels(pen, paint, view, pitch, before.loads);
      pen.globalAlpha = 1;
    }
    const over = change && part === 1 ? grid.drawMoves(pen, paint, view, pitch, change.moves) : null;
    const spot = (column, row) => [
      grid.edge.left + (column + 0.5) * pitch, grid.edge.top + (row + 0.5) * pitch,
    ];
    const sliding = new Set();
    if (part < 1) for (let i = 0; i < change.moves.length; i += 3) sliding.add(change.moves[i + 1]);
    for (let row = 0; row < view.rows; row += 1)
      for (let column = 0; column < view.columns; column += 1) {
        const node = view.node(column, row);
        let what = kind(before, node);
        if (part < 1) {
          if (node === change.failed) what = "failed";
          else if (sliding.has(node)) continue; // its rank is on the way
          else if (what === "moved") what = "rank";
        }
        grid.drawNode(pen, paint, what, ...spot(column, row), pitch, before.rank[node]);
      }
    if (part < 1) drawSliding(paint, change, part, spot);
    if (over) over();
    if (found && part === 1) grid.drawNumbers(pen, paint, pitch, found);
    if (cursor !== null && view.holds(cursor)) {
      const [x, y] = spot(view.column(cursor), view.row(cursor));
      pen.strokeStyle = paint.ink;
      pen.lineWidth = 2;
      pen.strokeRect(x - pitch * 0.44, y - pitch * 0.44, pitch * 0.88, pitch * 0.88);
    }
  }

  function drawSliding(paint, change, part, spot) {
    const eased = part < 0.5 ? 2 * part * part : 1 - 2 * (1 - part) * (1 - part);
    pen.save();
    pen.beginPath();
    pen.rect(grid.edge.left, grid.edge.top, view.columns * pitch, view.rows * pitch);
    pen.clip();
    for (let i = 0; i < change.moves.length; i += 3) {
      const [rank, from, to] = change.moves.slice(i, i + 3);
      if (!view.holds(from) || !view.holds(to)) continue;
      const dx = grid.apart(view.column(from), view.column(to), view.right) * eased;
      const dy = grid.dimensions > 1 ? grid.apart(view.row(from), view.row(to), view.down) * eased : 0;
      const [x, y] = spot(view.column(from) + dx, view.row(from) + dy);
      // Around the end of a torus it comes in again at the other side.
      const [wide, high] = [view.columns * pitch, view.rows * pitch];
      for (const [aside, below] of data.torus ? [[0, 0], [wide, 0], [-wide, 0], [0, high], [0, -high]] : [[0, 0]])
        grid.drawNode(pen, paint, "moved", x + aside, y + below, pitch, rank);
    }
    pen.restore();
  }

  function busiest(now) {
    if (!now.loads) return "";
    let most = 0, count = 0, where = -1, inside = 0;
    now.loads.forEach((messages, channel) => {
      if (messages > most) [most, count, where, inside] = [messages, 0, channel, 0];
      if (messages === most && most > 0) {
        count += 1;
        const dimension = Math.floor(channel / 2) % grid.dimensions;
        inside += view.holds(Math.floor(channel / 2 / grid.dimensions))
          && (dimension === view.right || dimension === view.down);
      }
    });
    if (most < 2) return " No two messages share a channel.";
    const node = Math.floor(where / 2 / grid.dimensions);
    const dimension = Math.floor(where / 2) % grid.dimensions;
    const way = where % 2 ? -1 : 1;
    const length = data.shape[dimension];
    const step = (grid.coordinate(node, dimension) + way + length) % length - grid.coordinate(node, dimension);
    const to = node + step * grid.strides[dimension];
    const many = count > 1 ? `; ${count.toLocaleString("en")} channels carry as many` : "";
    const here = grid.dimensions < 3 ? "" : inside ? `; ${inside.toLocaleString("en")} in this plane` : "; none in this plane";
    return ` The busiest channel, from ${grid.place(node)} to ${grid.place(to)}, carries ${most} messages${many}${here}.`;
  }

  function say() {
    const words = at === 0 ? "Before any failure." : `Step ${at}: ${data.steps[at - 1].text}.`;
    element("status").textContent = words + busiest(state(at));
    element("count").textContent = `${at} of ${last}`;
    element("at").value = String(at);
    element("at").setAttribute("aria-valuetext", `step ${at} of ${last}`);
    element("first").disabled = element("back").disabled = at === 0;
    element("next").disabled = at === last;
    element("play").disabled = last === 0;
  }

  function show() {
    choosePlane();
    say();
    draw(1);
    document.documentElement.dataset.shown = String(at);
  }

  // Goes to a step; one step onwards slides, unless the reader wants no motion.
  function go(step) {
    moving = null;
    const onwards = step === at + 1 && !prefersStill.matches;
    at = Math.max(0, Math.min(last, step));
    if (!onwards) return show();
    choosePlane();
    say();
    const mine = { started: null };
    moving = mine;
    const frame = (time) => {
      if (moving !== mine) return;
      if (mine.started === null) mine.started = time;
      const passed = time - mine.started;
      if (passed >= FAIL_MS + SLIDE_MS) {
        moving = null;
        show();
        return;
      }
      draw(Math.max(0, (passed - FAIL_MS) / SLIDE_MS));
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    // A page that is not looked at gets no frames, and goes on all the same.
    setTimeout(() => {
      if (moving !== mine) return;
      moving = null;
      show();
    }, FAIL_MS + SLIDE_MS + 300);
  }
  const FAIL_MS = 350;
  const SLIDE_MS = 750;
  const REST_MS = 1500;

  function pause() {
    clearTimeout(timer);
    timer = null;
    element("play").textContent = "Play";
  }

  function play() {
    if (at === last) go(0);
    element("play").textContent = "Pause";
    const next = () => {
      go(at + 1);
      timer = at < last ? setTimeout(next, (prefersStill.matches ? 0 : FAIL_MS + SLIDE_MS) + REST_MS) : null;
      if (timer === null) pause();
    };
    timer = setTimeout(next, 300);
  }

  function inspect(node) {
    cursor = node;
    const now = state(at);
    const words = { failed: "failed", spare: "a spare, free", vacated: "vacated, free" };
    const what = kind(now, node);
    const from = now.moved.get(node);
    let text = `Node ${node} ${grid.place(node)}: ${words[what] || "rank " + now.rank[node]}`;
    if (what === "failed" && now.rank[node] >= 0) text += `; rank ${now.rank[node]} is lost with it`;
    if (from !== undefined) text += `, just moved from node ${from} ${grid.place(from)}`;
    if (now.loads) {
      const out = data.shape.map((_, dimension) => {
        const first = (node * grid.dimensions + dimension) * 2;
        const name = grid.names[dimension];
        return `${name}+ ${now.loads[first]}, ${name}\u2212 ${now.loads[first + 1]}`;
      });
      text += `. Messages on its channels out: ${out.join(", ")}`;
    }
    element("node").textContent = text + ".";
    if (!moving) draw(1);
  }

  function pointed(event) {
    const box = canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - grid.edge.left) / pitch);
    const row = Math.floor((event.clientY - box.top - grid.edge.top) / pitch);
    if (column < 0 || row < 0 || column >= view.columns || row >= view.rows) return;
    const node = view.node(column, row);
    if (node !== cursor || event.type === "click") inspect(node);
  }

  const keys = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
  canvas.addEventListener("keydown", (event) => {
    const step = keys[event.key];
    if (!step) return;
    event.preventDefault();
    const start = cursor !== null && view.holds(cursor) ? cursor : view.node(0, 0);
    const column = Math.max(0, Math.min(view.columns - 1, view.column(start) + (cursor === null ? 0 : step[0])));
    const row = Math.max(0, Math.min(view.rows - 1, view.row(start) + (cursor === null ? 0 : step[1])));
    inspect(view.node(column, row));
  });
  canvas.addEventListener("pointermove", pointed);
  canvas.addEventListener("click", pointed);

  const press = (id, action) => element(id).addEventListener("click", () => { pause(); action(); });
  press("first", () => go(0));
  press("back", () => go(at - 1));
  press("next", () => go(at + 1));
  element("play").addEventListener("click", () => (timer === null ? play() : pause()));
  element("at").addEventListener("input", (event) => {
    pause();
    moving = null;
    at = Number(event.target.value);
    show();
  });
  if (grid.dimensions === 3)
    for (const id of ["plane", "depth"]) element(id).addEventListener("input", () => { moving = null; show(); });

  function drawKey() {
    const paint = colours();
    for (const one of document.querySelectorAll(".key canvas")) {
      const sharp = window.devicePixelRatio || 1;
      [one.width, one.height] = [26 * sharp, 22 * sharp];
      const small = one.getContext("2d");
      small.setTransform(sharp, 0, 0, sharp, 0, 0);
      small.strokeStyle = small.fillStyle = paint.moved;
      const what = one.dataset.key;
      if (what === "arrow") grid.arrow(small, 2, 11, 24, 11, 2, 9);
      else if (what === "away") {
        small.lineWidth = 2;
        small.beginPath();
        small.arc(13, 11, 8, 0, 7);
        small.stroke();
      } else if (what === "load") {
        const messages = Number(one.dataset.load);
        small.strokeStyle = grid.shade(paint, messages);
        small.lineWidth = grid.thickness(messages, 28);
        small.beginPath();
        small.moveTo(1, 11);
        small.lineTo(25, 11);
        small.stroke();
      } else grid.drawNode(small, paint, what, 13, 11, 28);
    }
  }

  function redraw() {
    drawKey();
    moving = null;
    show();
  }
  prefersDark.addEventListener("change", redraw);
  window.addEventListener("resize", () => { if (!moving) show(); }); // what moves is fitted as it is drawn
  window.addEventListener("beforeprint", () => { printing = true; redraw(); });
  window.addEventListener("afterprint", () => { printing = false; redraw(); });
  redraw();
})();
