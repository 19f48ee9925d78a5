"use strict";
// Draws every figure from its JSON, in the reader's colour scheme; redraws for print in light.
(function () {
  const dark = JSON.parse(document.getElementById("dark-colours").textContent);
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  const touch = window.matchMedia("(pointer: coarse)").matches;
  const divs = Array.from(document.querySelectorAll(".plot"));
  const chosen = new Map();
  const PAPER_PX = 680; // an A4 or letter page between its margins

  function figureOf(div, light) {
    const index = chosen.get(div.id) || "0";
    const source = document.querySelector(
      `script[data-figure="${div.id}"][data-choice="${index}"]`
    ).textContent;
    const swap = (key, value) => (typeof value === "string" && dark[value]) || value;
    return JSON.parse(source, light ? undefined : swap);
  }

  function draw(div, light, width) {
    const figure = figureOf(div, light);
    const layout = figure.layout;
    layout.width = width; // undefined: as wide as the page
    const narrow = !width && div.clientWidth < 600;
    if (narrow && layout.meta && layout.meta.names_px > div.clientWidth) {
      for (const trace of figure.data) {
        if (trace.mode === "markers+text") {
          trace.mode = "markers";
          trace.marker.size = 9;
        }
      }
    }
    if (narrow) {
      const entries = figure.data.filter((trace) => trace.showlegend !== false).length;
      layout.height += 16 * Math.max(entries - 4, 0); // the legend becomes one column
      for (const text of [layout.font, layout.legend.font]) text.size = 11;
      layout.xaxis.tickfont.size = layout.yaxis.tickfont.size = 11;
      layout.margin.l = layout.margin.r = 2;
      layout.legend.itemwidth = 30;
    }
    if (touch) layout.dragmode = false; // a finger on a figure scrolls the page
    return Plotly.react(div, figure.data, layout, {
      responsive: true,
      displayModeBar: touch || narrow ? false : "hover",
      displaylogo: false,
      modeBarButtons: [["toImage", "resetScale2d"]],
      toImageButtonOptions: { format: "svg", filename: div.id },
    });
  }

  function drawAll(light, width) {
    for (const div of divs) draw(div, light, width);
  }

  for (const select of document.querySelectorAll("select[data-chooses]")) {
    const note = document.getElementById(select.dataset.chooses + "-note");
    select.addEventListener("change", () => {
      chosen.set(select.dataset.chooses, select.value);
      note.textContent = select.selectedOptions[0].dataset.note;
      draw(document.getElementById(select.dataset.chooses), !prefersDark.matches);
    });
  }
  prefersDark.addEventListener("change", () => drawAll(!prefersDark.matches));

  let unfolded = [];
  window.addEventListener("beforeprint", () => {
    unfolded = Array.from(document.querySelectorAll("details:not([open])"));
    for (const details of unfolded) details.open = true;
    drawAll(true, PAPER_PX);
  });
  window.addEventListener("afterprint", () => {
    for (const details of unfolded) details.open = false;
    drawAll(!prefersDark.matches);
  });

  // One figure a turn, so that the first screen can be read while the others are drawn.
  (function next(index) {
    if (index === divs.length) {
      document.documentElement.dataset.drawn = String(divs.length);
      return;
    }
    draw(divs[index], !prefersDark.matches);
    setTimeout(() => next(index + 1), 0);
  })(0);
})();
