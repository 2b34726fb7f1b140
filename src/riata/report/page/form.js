// The form: what is typed becomes a row, the row a score, and the score is shown with what made it.
const text = (value) => document.createTextNode(value);
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
const short = (x) => (x === 0 ? "0" : Math.abs(x) >= 1e6 || Math.abs(x) < 1e-4 ? x.toExponential(3) : x.toPrecision(5));
// Names as they can be shown: control characters by their number, and no end in sight cut off.
function shownName(name, most = 120) {
  const shown = name.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
  return shown.length > most ? shown.slice(0, most - 1) + "…" : shown;
}

class Form {
  constructor(model, page) {
    this.model = model;
    this.page = page;
    this.reader = new ObjectReader(page.schema, page.characters, page.counts);
    this.fields = new Map();
    this.line = null;
  }

  // A line to a row: number:value pairs, Vowpal Wabbit's format, or a JSON object.
  rowOf(line) {
    const { schema } = this.page;
    if (!schema.named) return readNumbered(line, this.model.base);
    if (!line.trim().startsWith("{")) return readVw(line, schema.crosses);
    return this.reader.read(parseJson(line));
  }

  // The row that is typed.
  row() {
    const { schema } = this.page, line = this.line?.value ?? "";
    if (line.trim() !== "") return this.rowOf(line);
    if (!schema.named || this.fields.size === 0) return new Row();
    const pairs = [];
    for (const [name, input] of this.fields) if (input.value !== "") pairs.push([name, input.value]);
    return this.reader.read({ pairs });
  }

  build(form) {
    const { schema } = this.page;
    const columns = schema.named ? schema.columns.filter((column) => column.feature) : [];
    const fields = element("div", { class: "fields" });
    if (columns.length <= 200) columns.forEach((column, i) => fields.append(this.field(column, i)));
    form.append(fields);
    const what = !schema.named ? `Features as number:value, such as ${this.model.base + 2}:1 ${this.model.base + 6}:0.5`
      : columns.length > 0 ? "One JSON object, in place of the fields"
      : "One JSON object, or features in Vowpal Wabbit's format, such as |words free entry:2";
    this.line = element("textarea", { id: "line", rows: "3", spellcheck: "false", autocomplete: "off" });
    const whole = element("div", { class: "field wide" }, element("label", { for: "line" }, what), this.line);
    if (columns.length > 0 && columns.length <= 200) {
      const more = element("details", {}, element("summary", {}, "Type a JSON object instead"), whole);
      form.append(more);
    } else form.append(whole);
    form.addEventListener("input", () => this.update());
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(() => this.update()));
  }

  field(column, i) {
    const id = `field-${i}`, label = element("label", { for: id }, shownName(column.name));
    let input;
    if (column.role === "text") input = element("textarea", { id, rows: "4", spellcheck: "false" });
    else {
      input = element("input", { id, type: "text", autocomplete: "off", spellcheck: "false" });
      if (["number", "log1p", "bucket"].includes(column.role)) {
        input.setAttribute("inputmode", "decimal");
        if (column.centre !== 0) input.setAttribute("placeholder", `about ${short(column.centre)}`);
      } else input.addEventListener("focus", () => this.suggest(column, input, id), { once: true });
    }
    this.fields.set(column.name, input);
    return element("div", { class: column.role === "text" ? "field wide" : "field" }, label, input);
  }

  // Names of a category that have a weight, the first hundred.
  suggest(column, input, id) {
    const list = element("datalist", { id: `${id}-known` }), prefix = `${column.name}=`;
    let left = 100;
    for (const name of this.model.names) {
      if (!name.startsWith(prefix) || left === 0) continue;
      list.append(element("option", { value: name.slice(prefix.length) }));
      --left;
    }
    if (list.children.length === 0) return;
    input.after(list);
    input.setAttribute("list", list.id);
  }

  update() {
    const result = document.getElementById("result");
    let content;
    try {
      const row = this.row();
      this.last = { ...this.model.score(row, this.chosen ?? null), row };
      content = this.show(this.last);
    } catch (error) {
      this.last = { error: error.message };
      content = [element("p", { class: "wrong" }, error.message)];
    }
    result.replaceChildren(...content);
  }

  show(outcome) {
    const { model, page } = this, parts = [];
    if (page.task === "regression") parts.push(element("p", { class: "headline" }, `${page.label}: ${short(outcome.scores[0])}`));
    else parts.push(this.classes(outcome));
    for (const typed of outcome.row.texts) parts.push(this.coloured(typed, outcome));
    parts.push(this.contributions(outcome));
    if (outcome.bound > 0)
      parts.push(element("p", { class: "note" }, `What is not in this page can move the score by up to ${short(outcome.bound)}.`));
    return parts;
  }

  classes({ scores, probabilities, best }) {
    const { page } = this;
    const winner = page.classes.length === 2 && scores.length === 1 ? (scores[0] > 0 ? 1 : 0) : best;
    const box = element("div");
    const said = probabilities === null ? `score ${short(scores[best])}` : (100 * probabilities[winner]).toFixed(2) + " %";
    box.append(element("p", { class: "headline" }, element("strong", {}, shownName(page.classes[winner])), ` ${said}`));
    if (probabilities === null) return box;
    const order = page.classes.map((_, i) => i).sort((a, b) => probabilities[b] - probabilities[a]).slice(0, 10);
    const rows = order.map((i) => {
      const bar = element("span", { class: "bar" });
      bar.style.width = `${100 * probabilities[i]}%`;
      return element("tr", {}, element("th", { scope: "row" }, shownName(page.classes[i])),
        element("td", { class: "number", "data-class": String(i) }, probabilities[i].toFixed(6)),
        element("td", { class: "track", "aria-hidden": "true" }, bar));
    });
    box.append(element("table", { class: "classes" }, element("caption", {}, "Probabilities"), element("tbody", {}, ...rows)));
    return box;
  }

  // The text with its words marked by what their n-grams add; a word of several has a part of each.
  coloured(typed, { terms }) {
    const adds = new Array(typed.words.length).fill(0);
    for (const { from, adds: added } of terms) {
      if (from === null || from.text !== typed) continue;
      for (const k of from.words) adds[k] += added / from.words.size;
    }
    const most = Math.max(1e-12, ...adds.map(Math.abs)), line = element("p", { class: "coloured" });
    let at = 0;
    typed.words.forEach(({ from, to }, k) => {
      line.append(text(typed.text.slice(at, from)));
      const strength = Math.abs(adds[k]) / most;
      if (strength < 0.02) line.append(text(typed.text.slice(from, to)));
      else {
        const mark = element("mark", { class: adds[k] > 0 ? "for" : "against", title: `${adds[k] > 0 ? "+" : ""}${short(adds[k])}` }, typed.text.slice(from, to));
        mark.style.setProperty("--strength", `${Math.round(8 + 27 * strength)}%`);
        line.append(mark);
      }
      at = to;
    });
    line.append(text(typed.text.slice(at)));
    return line;
  }

  contributions({ terms, intercept, rest, scores, output }) {
    const { page } = this;
    const known = terms.filter((each) => each.adds !== 0).sort((a, b) => Math.abs(b.adds) - Math.abs(a.adds));
    const rows = known.slice(0, 30).map((each) => [shownName(each.name), each.x, each.adds]);
    const left = known.slice(30).reduce((sum, each) => sum + each.adds, 0);
    if (known.length > 30) rows.push([`${known.length - 30} more features`, null, left]);
    rows.push(["intercept", null, intercept]);
    if (Math.abs(rest) > 1e-9) rows.push([page.rest, null, rest]);
    const most = Math.max(1e-12, ...rows.map(([, , adds]) => Math.abs(adds)));
    const of = page.task === "regression" ? page.label : page.classes[scores.length === 1 ? page.classes.length - 1 : output] ?? "";
    const body = rows.map(([name, x, adds]) => {
      const bar = element("span", { class: `bar ${adds > 0 ? "for" : "against"}` });
      bar.style.width = `${(50 * Math.abs(adds)) / most}%`;
      bar.style.left = adds > 0 ? "50%" : `${50 - (50 * Math.abs(adds)) / most}%`;
      return element("tr", {}, element("th", { scope: "row" }, name), element("td", { class: "number" }, x === null ? "" : short(x)),
        element("td", { class: "number" }, `${adds > 0 ? "+" : ""}${short(adds)}`),
        element("td", { class: "track", "aria-hidden": "true" }, bar));
    });
    const head = element("tr", {}, ...["feature", "value", "adds"].map((name) => element("th", { scope: "col" }, name)), element("td"));
    const without = terms.filter((each) => each.adds === 0);
    const box = element("div", {}, element("table", { class: "terms" },
      element("caption", {}, `What the score of ${shownName(of)} is made of: ${short(scores[output])} in all`),
      element("thead", {}, head), element("tbody", {}, ...body)));
    if (without.length > 0)
      box.append(element("p", { class: "note" }, `Without a weight: ${without.slice(0, 12).map((each) => shownName(each.name, 40)).join(", ")}${without.length > 12 ? ` and ${without.length - 12} more` : ""}`));
    return box;
  }
}
