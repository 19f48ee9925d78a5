"use strict";
// Draws one plane of the grid on a canvas: nodes, channels, moves. Knows nothing of steps and time.
function slidesGrid(data) {
  const shape = data.shape.length === 1 ? [data.shape[0], 1] : data.shape;
  const dimensions = data.shape.length;
  const strides = shape.map((_, at) => shape.slice(0, at).reduce((a, b) => a * b, 1));
  const digits = String(data.ranks.length - 1).length;
  const names = ["x", "y", "z"];
  // Around a torus, moves and channels end beyond the edge.
  const edge = data.torus ? { left: 50, top: 38, right: 18, bottom: 18 } : { left: 46, top: 24, right: 10, bottom: 10 };

  function coordinate(node, dimension) {
    return Math.floor(node / strides[dimension]) % shape[dimension];
  }

  function place(node) {
    const at = data.shape.map((_, dimension) => coordinate(node, dimension));
    return "(" + at.join(", ") + ")";
  }

  // The plane across a dimension: which dimensions run right and down.
  function plane(across, depth) {
    const [right, down] = [0, 1, 2].filter((d) => d !== across && d < Math.max(dimensions, 2));
    return {
      across, depth, right, down,
      columns: shape[right], rows: shape[down],
      holds: (node) => dimensions < 3 || coordinate(node, across) === depth,
      node: (column, row) => column * strides[right] + row * strides[down]
        + (dimensions < 3 ? 0 : depth * strides[across]),
      column: (node) => coordinate(node, right),
      row: (node) => coordinate(node, down),
    };
  }

  // Steps from one coordinate to another, around the end of a torus where that is shorter.
  function apart(from, to, dimension) {
    const length = shape[dimension];
    let steps = to - from;
    if (data.torus && 2 * Math.abs(steps) > length) steps -= Math.sign(steps) * length;
    return steps;
  }

  function shade(colours, messages) {
    const most = Math.max(data.largest - 1, 1);
    return colours["load" + Math.min(4, Math.round(((messages - 1) / most) * 4))];
  }

  function thickness(messages, pitch) {
    const most = Math.max(data.largest - 1, 1);
    return Math.max(1, pitch * 0.035) + pitch * 0.15 * ((messages - 1) / most);
  }

  function square(pen, x, y, size) {
    pen.beginPath();
    pen.rect(x - size / 2, y - size / 2, size, size);
  }

  function arrow(pen, x0, y0, x1, y1, width, head) {
    const length = Math.hypot(x1 - x0, y1 - y0) || 1;
    const [dx, dy] = [(x1 - x0) / length, (y1 - y0) / length];
    pen.lineWidth = width;
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(x1 - dx * head * 0.8, y1 - dy * head * 0.8);
    pen.stroke();
    pen.beginPath();
    pen.moveTo(x1, y1);
    pen.lineTo(x1 - dx * head - dy * head * 0.62, y1 - dy * head + dx * head * 0.62);
    pen.lineTo(x1 - dx * head + dy * head * 0.62, y1 - dy * head - dx * head * 0.62);
    pen.fill();
  }

  // One node: every kind has a shape of its own, so that none needs its colour.
  function drawNode(pen, colours, kind, x, y, pitch, label) {
    const size = pitch * 0.54;
    const line = Math.max(1, pitch * 0.05);
    pen.lineWidth = line;
    if (kind === "spare") {
      square(pen, x, y, size - line);
      pen.fillStyle = colours.paper;
      pen.fill();
      pen.strokeStyle = colours.muted;
      pen.stroke();
    } else if (kind === "vacated") {
      pen.beginPath();
      pen.arc(x, y, (size - line) / 2, 0, 7);
      pen.fillStyle = colours.paper;
      pen.fill();
      pen.strokeStyle = colours.moved;
      pen.stroke();
    } else if (kind === "failed") {
      square(pen, x, y, size + line);
      pen.fillStyle = colours.failed;
      pen.fill();
      const arm = size * 0.3;
      pen.strokeStyle = colours.paper;
      pen.lineWidth = Math.max(1.2, pitch * 0.08);
      pen.beginPath();
      pen.moveTo(x - arm, y - arm);
      pen.lineTo(x + arm, y + arm);
      pen.moveTo(x + arm, y - arm);
      pen.lineTo(x - arm, y + arm);
      pen.stroke();
    } else {
      const moved = kind === "moved";
      square(pen, x, y, size);
      pen.fillStyle = moved ? colours.moved : colours.rank;
      pen.fill();
      const font = Math.min(size * 0.52, (size * 1.3) / digits);
      if (label !== undefined && font >= 7.5) {
        pen.fillStyle = colours.paper;
        pen.font = `600 ${font}px system-ui, sans-serif`;
        pen.textAlign = "center";
        pen.textBaseline = "middle";
        pen.fillText(String(label), x, y + 0.5);
        if (moved) {
          square(pen, x, y, size + 3 * line);
          pen.strokeStyle = colours.moved;
          pen.stroke();
        }
      } else if (moved) {
        pen.beginPath();
        pen.arc(x, y, size * 0.2, 0, 7);
        pen.fillStyle = colours.paper;
        pen.fill();
      }
    }
  }

  function drawAxes(pen, colours, view, pitch) {
    pen.fillStyle = colours.muted;
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    pen.textAlign = "center";
    const aside = data.torus ? 0.28 * pitch : 0;
    const every = pitch >= 26 ? 1 : pitch >= 11 ? 5 : 10;
    for (let column = 0; column < view.columns; column += every)
      pen.fillText(String(column), edge.left + (column + 0.5) * pitch, edge.top - 9 - aside);
    pen.textAlign = "right";
    for (let row = 0; row < view.rows && dimensions > 1; row += every)
      pen.fillText(String(row), edge.left - 7 - aside, edge.top + (row + 0.5) * pitch);
    pen.fillStyle = colours.ink;
    pen.font = "600 11px system-ui, sans-serif";
    const down = dimensions > 1 ? " " + names[view.down] + "\u2193" : "";
    pen.textAlign = "left";
    pen.fillText(names[view.right] + "\u2192" + down, 0, edge.top - 9 - aside);
  }

  // Calls `each(node, dimension, up, messages)` for the channels within the plane.
  function channels(view, loads, each) {
    for (let row = 0; row < view.rows; row += 1)
      for (let column = 0; column < view.columns; column += 1) {
        const node = view.node(column, row);
        for (const dimension of dimensions > 1 ? [view.right, view.down] : [view.right])
          for (let way = 0; way < 2; way += 1) {
            const messages = loads[(node * dimensions + dimension) * 2 + way];
            if (messages > 0) each(node, dimension, way === 0, messages);
          }
      }
  }

  // Where a channel is drawn: from its node half-way out, beside the channel of the other direction.
  function ends(view, pitch, node, dimension, up) {
    const x = edge.left + (view.column(node) + 0.5) * pitch;
    const y = edge.top + (view.row(node) + 0.5) * pitch;
    const [near, far] = [0.27 * pitch, 0.73 * pitch];
    const aside = (up ? 1 : -1) * 0.14 * pitch;
    const way = up ? 1 : -1;
    return dimension === view.right
      ? [x + way * near, y + aside, x + way * far, y + aside]
      : [x - aside, y + way * near, x - aside, y + way * far];
  }

  function drawChannels(pen, colours, view, pitch, loads) {
    const busy = [];
    const most = data.largest;
    const found = [];
    channels(view, loads, (...channel) => found.push(channel));
    found.sort((a, b) => a[3] - b[3]); // the busiest on top
    const top = found.length ? found[found.length - 1][3] : 0;
    for (const [node, dimension, up, messages] of found) {
      const [x0, y0, x1, y1] = ends(view, pitch, node, dimension, up);
      pen.strokeStyle = pen.fillStyle = shade(colours, messages);
      const width = thickness(messages, pitch);
      if (messages > 1 && pitch >= 15) arrow(pen, x0, y0, x1, y1, width, Math.max(width * 1.5, pitch * 0.16));
      else {
        pen.lineWidth = width;
        pen.beginPath();
        pen.moveTo(x0, y0);
        pen.lineTo(x1, y1);
        pen.stroke();
      }
      if (messages === top && top > 1) busy.push([x0, y0, x1, y1, dimension === view.right, up]);
    }
    return { top, busy, most };
  }

  // Numbers beside the busiest channels; of many, the first.
  function drawNumbers(pen, colours, pitch, found) {
    const size = Math.max(9, Math.min(13, pitch * 0.4));
    pen.font = `700 ${size}px system-ui, sans-serif`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.lineWidth = 3;
    pen.lineJoin = "round";
    const placed = []; // one number a stretch is enough
    for (const [x0, y0, x1, y1, flat, up] of found.busy) {
      if (placed.length === 10) break;
      if (placed.some(([x, y]) => Math.abs(x - x0) < 64 && Math.abs(y - y0) < 64)) continue;
      placed.push([x0, y0]);
      const aside = (up ? 1 : -1) * (size * 0.62 + pitch * 0.08);
      const [x, y] = [(x0 + x1) / 2 + (flat ? 0 : -aside), (y0 + y1) / 2 + (flat ? aside : 0)];
      pen.strokeStyle = colours.paper;
      pen.strokeText(String(found.top), x, y);
      pen.fillStyle = colours.ink;
      pen.fillText(String(found.top), x, y);
    }
  }

  // Moves one behind the other in one direction, each such row as a single move.
  function joined(view, moves) {
    const next = new Map();
    for (let at = 0; at < moves.length; at += 3) next.set(moves[at + 1], moves[at + 2]);
    const way = (from, to) => [
      apart(view.column(from), view.column(to), view.right),
      dimensions > 1 ? apart(view.row(from), view.row(to), view.down) : 0,
    ].join();
    const inside = (from) => next.has(from) && view.holds(from) && view.holds(next.get(from));
    const isUnit = (from) => inside(from) && ["1,0", "-1,0", "0,1", "0,-1"].includes(way(from, next.get(from)));
    const follows = new Map(); // the move before each one that goes on in its direction
    for (const [from, to] of next)
      if (isUnit(from) && isUnit(to) && way(from, to) === way(to, next.get(to))) follows.set(to, from);
    const rows = [];
    for (const from of next.keys()) {
      if (follows.has(from)) continue;
      let to = next.get(from);
      // Around the end of a torus a row is drawn in two parts.
      let start = from, before = from;
      const jumps = (a, b) => Math.abs(view.column(a) - view.column(b)) + Math.abs(view.row(a) - view.row(b)) > 1;
      while (isUnit(from) && follows.get(to) === before) {
        if (jumps(before, to)) {
          rows.push(-1, start, before);
          start = to;
        }
        before = to;
        to = next.get(to);
      }
      rows.push(-1, start, to);
    }
    return rows;
  }

  // Moves between neighbours: in the gap between them. Longer ones, and all where the grid is small: over the nodes.
  function drawMoves(pen, colours, view, pitch, moves) {
    pen.strokeStyle = pen.fillStyle = colours.moved;
    const centre = (node) => [
      edge.left + (view.column(node) + 0.5) * pitch, edge.top + (view.row(node) + 0.5) * pitch,
    ];
    const longer = [];
    if (pitch < 16) moves = joined(view, moves);
    for (let at = 0; at < moves.length; at += 3) {
      const [from, to] = [moves[at + 1], moves[at + 2]];
      if (!view.holds(from) || !view.holds(to)) {
        if (view.holds(from) || view.holds(to)) longer.push([from, to]);
        continue;
      }
      const isRow = moves[at] < 0; // not shortened around a torus
      const dx = isRow ? view.column(to) - view.column(from) : apart(view.column(from), view.column(to), view.right);
      const down = dimensions > 1 ? apart(view.row(from), view.row(to), view.down) : 0;
      const dy = isRow ? view.row(to) - view.row(from) : down;
      const [x, y] = centre(from);
      const far = Math.hypot(dx, dy);
      if (far > 1) longer.push([from, to, x, y, dx, dy]);
      else
        arrow(pen, x + dx * 0.2 * pitch, y + dy * 0.2 * pitch, x + dx * 0.74 * pitch, y + dy * 0.74 * pitch,
          Math.max(1, pitch * 0.06), Math.max(3, pitch * 0.24));
    }
    return () => {
      for (const [from, to, x, y, dx, dy] of longer) {
        pen.strokeStyle = pen.fillStyle = colours.moved;
        if (x === undefined) {
          const [cx, cy] = centre(view.holds(from) ? from : to);
          pen.lineWidth = Math.max(1.5, pitch * 0.07);
          pen.beginPath();
          pen.arc(cx, cy, pitch * 0.42, 0, 7);
          pen.stroke();
          continue;
        }
        const far = Math.hypot(dx, dy);
        const inset = 0.3 / far;
        arrow(pen, x + dx * inset * pitch, y + dy * inset * pitch,
          x + dx * (1 - inset) * pitch, y + dy * (1 - inset) * pitch,
          Math.max(1.5, pitch * 0.08), Math.max(7, pitch * 0.34));
      }
    };
  }

  return { shape, dimensions, strides, names, edge, coordinate, place, plane, apart, channels,
    drawNode, drawAxes, drawChannels, drawNumbers, drawMoves, shade, thickness, arrow };
}
