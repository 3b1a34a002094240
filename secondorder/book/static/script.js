"use strict";
// Search, keys, previews, symbols, dark and light. The pages are whole without it.
(() => {
  const root = document.documentElement, $ = id => document.getElementById(id);
  root.classList.add("script");

  // dark and light
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  const turn = () => {
    root.dataset.theme = dark() ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch { /* from a file: not kept */ }
  };
  $("theme").addEventListener("click", turn);

  // search
  const dialog = $("search"), input = $("search-input"), list = $("search-results");
  let chosen = 0;
  // words: a whole one counts more than the beginning of one, a label more than what a row says
  const words = text => text.toLowerCase().match(/[\p{L}\p{N}.⊣]+(?:['’]\p{L}+)?/gu) || [];
  const FIELDS = [["label", 12], ["called", 10], ["code", 7], ["also", 6.5], ["text", 6], ["paper", 4], ["more", 3]];
  const prepared = row => row.words ||= FIELDS.map(([name, weight]) => [weight, new Set(words((row[name] || "").replace(/[_-]/g, " ")))]);
  const rank = (row, asked, whole) => {
    const label = row.label.toLowerCase().replace(/[_-]/g, " "), paper = row.paper.split("-");
    const rest = paper.every(word => asked.includes(word)) ? asked.filter(word => !paper.includes(word)) : asked;
    let hidden = false, total = label === asked.join(" ") || label === rest.join(" ") ? 40 : 0;
    for (const word of asked) {
      let best = 0;
      for (const [weight, known] of prepared(row)) {
        if (known.has(word)) best = Math.max(best, weight);
        else if (!whole.has(word)) for (const one of known) if (one.startsWith(word)) best = Math.max(best, weight / 3);
      }
      if (!best) return [0];
      total += best;
      hidden ||= best <= 3;  // nothing that the row shows has it
    }
    return [total, hidden];
  };
  const show = () => {
    const asked = words(input.value.replace(/[()_-]/g, " ")).filter((word, k, all) => all.length === 1 || !/^(equations?|eqs?\.?)$/.test(word));
    // the beginning of a word is looked for only where nothing has it as a whole one
    const whole = new Set(asked.filter(word => INDEX.some(row => prepared(row).some(([, known]) => known.has(word)))));
    const here = location.pathname.split("/").pop();
    const all = asked.length ? INDEX.map(row => [row, ...rank(row, asked, whole)]).filter(([, value]) => value) : [];
    const seen = all.filter(([, , hidden]) => !hidden), near = row => row.page.startsWith(here) ? .5 : 0;
    const rows = (seen.length ? seen : all).sort((a, b) => b[1] + near(b[0]) - a[1] - near(a[0])).slice(0, 30);
    chosen = 0;
    list.replaceChildren(...rows.map(([row], k) => {
      const item = document.createElement("li"), link = document.createElement("a"), small = document.createElement("small");
      item.setAttribute("aria-selected", k === 0);
      link.href = row.page;
      link.textContent = `${row.glyph} ${row.paper} ${row.label}  `;
      const names = (row.code || "").split(" ").filter(name => asked.some(word => name.toLowerCase().split("_").includes(word)));
      small.textContent = [row.text, ...names].join(" · ");
      link.append(small); item.append(link);
      link.addEventListener("click", () => dialog.close());
      return item;
    }));
  };
  const open = () => { dialog.showModal(); input.select(); show(); };
  $("search-open").addEventListener("click", open);
  input.addEventListener("input", show);
  input.addEventListener("keydown", event => {
    const items = [...list.children];
    if (event.key === "Escape") { event.preventDefault(); dialog.close(); }  // a search field keeps the first
    if (event.key === "Enter" && items[chosen]) { event.preventDefault(); items[chosen].firstChild.click(); }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp" || !items.length) return;
    event.preventDefault();
    chosen = (chosen + (event.key === "ArrowDown" ? 1 : items.length - 1)) % items.length;
    items.forEach((item, k) => item.setAttribute("aria-selected", k === chosen));
    items[chosen].scrollIntoView({ block: "nearest" });
  });

  // keys: the article at hand is the last whose top is at the upper edge or above, or the one that
  // was asked for last, where the page ends before it can come up
  const articles = [...document.querySelectorAll("main article[id]")];
  const edge = () => (parseFloat(getComputedStyle(root).scrollPaddingTop) || 0) + 20;
  let asked = null;
  const at = () => asked && asked.y === scrollY ? articles.indexOf(asked.article)
    : articles.findLastIndex(article => article.getBoundingClientRect().top <= edge());
  const go = (direction, wanted) => {
    const begun = at(), late = direction < 0 && begun >= 0 && !(asked && asked.y === scrollY)
      && articles[begun].getBoundingClientRect().top < edge() - 60;  // first back to its beginning
    let k = late ? begun : begun + direction;
    while (wanted && articles[k] && !articles[k].classList.contains(wanted)) k += direction;
    const next = articles[k];
    if (!next) return;
    next.scrollIntoView({ behavior: "instant" });
    asked = { article: next, y: scrollY };
    history.replaceState(null, "", `#${next.id}`);
    mark(next);
  };
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || dialog.open || large.open || /input|textarea/i.test(event.target.tagName)) return;
    const action = { j: () => go(1), k: () => go(-1), e: () => go(1, "erratum"), "/": open, d: turn }[event.key];
    if (action) { event.preventDefault(); action(); }
  });

  // the rail follows
  const links = new Map([...document.querySelectorAll(".rail a")].map(link => [link.hash.slice(1), link]));
  const mark = article => {
    links.forEach(link => link.removeAttribute("aria-current"));
    const link = links.get(article.id);
    if (!link) return;
    link.setAttribute("aria-current", "true");
    const rail = link.closest(".rail"), box = link.getBoundingClientRect(), frame = rail.getBoundingClientRect();
    if (getComputedStyle(rail).position === "fixed" && (box.top < frame.top + 20 || box.bottom > frame.bottom - 20))
      rail.scrollTop += box.top - frame.top - frame.height / 2;
  };
  const watch = new IntersectionObserver(entries => {
    if (!entries.some(entry => entry.isIntersecting)) return;
    const first = articles.find(article => article.getBoundingClientRect().bottom > 120);
    if (first) mark(first);
  }, { rootMargin: "-60px 0px -60% 0px" });
  articles.forEach(article => watch.observe(article));

  // pop-ups: the row of a symbol, the formula of a label
  const box = $("pop-up"), data = $("letters-data"), letters = data ? JSON.parse(data.textContent) : {};
  const place = near => {
    box.hidden = false;
    const at = near.getBoundingClientRect(), size = box.getBoundingClientRect();
    box.style.left = `${Math.max(8, Math.min(at.left, innerWidth - size.width - 12))}px`;
    box.style.top = `${at.top > size.height + 14 ? at.top - size.height - 8 : at.bottom + 8}px`;
  };
  const plain = text => text.replaceAll("``", "");
  const symbol = element => {
    const letter = element.dataset.symbol, article = element.closest("article");
    article.querySelectorAll("[data-symbol]").forEach(one => one.classList.toggle("lit", one.dataset.symbol === letter));
    box.replaceChildren(...(letters[letter] || []).map(([printed, here, meaning]) => {
      const row = document.createElement("p"), name = document.createElement("b"), code = document.createElement("code");
      name.textContent = `${plain(printed)} `; code.textContent = plain(here);
      row.append(name, code, ` ${plain(meaning)}`);
      return row;
    }));
    if (box.childElementCount) place(element);
  };
  const onAnotherPage = element => {
    const row = INDEX.find(one => one.page === element.getAttribute("href"));
    if (!row) return;
    const head = document.createElement("b"), text = document.createElement("p");
    head.textContent = `${row.glyph} ${row.paper} ${row.label}`;
    text.textContent = row.text;
    box.replaceChildren(head, text);
    place(element);
  };
  const preview = element => {
    if (!element.getAttribute("href").startsWith("#")) { onAnotherPage(element); return; }
    const goal = document.getElementById(element.hash ? decodeURIComponent(element.hash.slice(1)) : "");
    const article = goal && (goal.closest("article") || goal);
    if (!article) return;
    if (goal.matches(".code")) {
      const shown = goal.cloneNode(true);
      shown.querySelectorAll("details").forEach(one => one.remove());
      shown.removeAttribute("id");
      box.replaceChildren(shown);
    } else {
      const head = article.querySelector("header").cloneNode(true), formula = article.querySelector(".box:last-of-type .display");
      head.querySelectorAll("a").forEach(link => link.replaceWith(link.textContent));
      box.replaceChildren(head, ...(formula ? [formula.cloneNode(true)] : []));
    }
    place(element);
  };
  const clear = () => { box.hidden = true; document.querySelectorAll(".lit").forEach(one => one.classList.remove("lit")); };
  const hover = target => {
    const element = target.closest && target.closest("[data-symbol],.ref,.chip");
    if (!element || element.closest("#pop-up")) return false;
    clear();
    if (element.dataset.symbol) symbol(element); else preview(element);
    return true;
  };
  for (const kind of ["mouseover", "focusin"]) document.addEventListener(kind, event => { if (!hover(event.target)) clear(); });
  addEventListener("scroll", clear, { passive: true });

  // copying: the code of a block, the LaTeX of a display
  const put = async text => {
    try { await navigator.clipboard.writeText(text); } catch {
      const area = document.createElement("textarea");
      area.value = text; document.body.append(area); area.select();
      document.execCommand("copy"); area.remove();
    }
  };
  document.addEventListener("click", event => {
    const button = event.target.closest && event.target.closest(".copy");
    if (!button) return;
    const block = button.closest("figure");
    put(button.dataset.copy || [...block.querySelectorAll("pre")].map(one => one.textContent).join("").trimEnd() + "\n");
    const before = button.textContent;
    button.textContent = "copied"; button.classList.add("done");
    setTimeout(() => { button.textContent = before; button.classList.remove("done"); }, 1200);
  });

  // a figure opens large; without script the link leads to its file
  const large = $("large");
  document.addEventListener("click", event => {
    const link = event.target.closest && event.target.closest("a.picture");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    large.replaceChildren(link.querySelector("svg").cloneNode(true));
    large.showModal();
  });
  large.addEventListener("click", () => large.close());
})();
