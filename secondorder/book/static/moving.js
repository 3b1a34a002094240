"use strict";
// A figure that one moves. The page holds recorded numbers for every position of the sliders; here
// they are looked up and drawn. Nothing is computed but where a number stands on an axis.
(() => {
  const figure = document.getElementById("moving");
  const { box: [left, right, top, bottom], panels, sliders, words } =
    JSON.parse(document.getElementById("moving-data").textContent);
  const inputs = sliders.map((_, k) => document.getElementById(`moving-${k}`));

  // where a number stands: its share of the axis, which is [low, high, logarithmic]
  const share = ([low, high, log], value) => log ? Math.log(value / low) / Math.log(high / low)
    : (value - low) / (high - low);

  // what was recorded for these positions of the sliders
  const at = ({ by, of }, places) => by.reduce((values, slider) => values[places[slider]], of);

  // points as a path: a line that breaks where there is no number, or a stroke of no length a dot
  const path = (panel, curve, places) => {
    const xs = at(curve.x, places), ys = at(curve.y, places);
    let drawn = "", joined = false;
    xs.forEach((x, k) => {
      if (x === null || ys[k] === null) { joined = false; return; }
      const across = left + share(panel.x, x) * (right - left);
      const up = bottom - share(panel.y, ys[k]) * (bottom - top);
      drawn += `${joined ? "L" : "M"}${across.toFixed(1)} ${up.toFixed(1)}${curve.dots ? "h0" : ""}`;
      joined = !curve.dots;
    });
    return drawn;
  };

  const lines = panels.flatMap(panel => panel.curves.map(curve => ({ panel, curve })));
  const shapes = lines.map((_, k) => figure.querySelector(`[data-curve="${k}"]`));

  const draw = () => {
    const places = inputs.map(input => Number(input.value));
    lines.forEach(({ panel, curve }, k) => {
      if (curve.x.by.length || curve.y.by.length) shapes[k].setAttribute("d", path(panel, curve, places));
    });
    inputs.forEach((input, k) => {
      const text = sliders[k][places[k]], output = input.parentElement.querySelector("output");
      output.querySelector("b").textContent = text;
      input.setAttribute("aria-valuetext", output.textContent.trim());
    });
    figure.querySelector(".told").textContent = at(words, places);
  };

  inputs.forEach(input => input.addEventListener("input", draw));
  draw();  // a browser may bring back where a slider stood
})();
