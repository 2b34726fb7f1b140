// The table of all features: only the rows in sight are in the document, however many there are.
const ROW = 30, TALLEST = 8e6;  // pixels

class FeatureTable {
  constructor(model, page, root) {
    this.model = model;
    this.page = page;
    this.root = root;
    this.output = 0;
    this.sort = { by: "size", down: true };
    this.order = [];
    this.needle = "";
    const { names } = model, columns = page.scales;
    // As riata inspect has them: for numbers as they stand in the data.
    this.weights = model.parts.shown.slice();
    this.std = model.parts.std?.slice() ?? null;
    if (columns.size > 0) names.forEach((name, i) => {
      const scale = columns.get(name);
      for (let o = 0; scale !== undefined && o < model.outputs; ++o) {
        this.weights[o * names.length + i] /= scale;
        if (this.std !== null) this.std[o * names.length + i] /= scale;
      }
    });
    this.lower = null;
    this.build();
  }

  build() {
    const { model, page, root } = this;
    this.columns = [["name", "feature"], ["weight", "weight"], ["size", "size"]];
    if (this.std !== null) this.columns.push(["std", "± std"]);
    const search = element("input", { id: "search", type: "search", autocomplete: "off", spellcheck: "false" });
    const controls = element("div", { class: "controls" }, element("label", { for: "search" }, "Search features"), search);
    search.addEventListener("input", () => this.find(search.value));
    if (model.outputs > 1) {
      const select = element("select", { id: "class" }, ...page.classes.map((name, i) => element("option", { value: String(i) }, shownName(name))));
      controls.append(element("label", { for: "class" }, "Class"), select);
      select.addEventListener("change", () => {
        this.output = Number(select.value);
        this.arrange();
      });
    }
    this.count = element("p", { role: "status", id: "found" });
    this.head = element("tr", {}, ...this.columns.map(([key, name]) => {
      const button = element("button", { type: "button", "data-sort": key }, name);
      button.addEventListener("click", () => this.sortBy(key));
      return element("th", { scope: "col", class: key === "name" ? "" : "number" }, button);
    }));
    this.body = element("tbody");
    this.table = element("table", { class: "features" }, element("caption", { class: "hidden" }, "Features and their weights"),
      element("thead", {}, this.head), this.body);
    this.sizer = element("div", { class: "sizer" }, this.table);
    this.view = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Features and their weights" }, this.sizer);
    this.view.addEventListener("scroll", () => this.draw());
    this.view.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      this.view.scrollTop += step * Math.max(1, this.perRow());
    });
    root.append(controls, this.count, this.view);
    this.find("");
  }

  column(key) {
    const n = this.model.names.length, from = this.output * n;
    const of = (array) => array.subarray(from, from + n);
    return key === "std" ? of(this.std) : of(this.weights);
  }

  find(needle) {
    this.needle = needle.toLowerCase();
    const n = this.model.names.length;
    if (this.needle === "") this.found = Uint32Array.from({ length: n }, (_, i) => i);
    else {
      this.lower ??= this.model.names.map((name) => name.toLowerCase());
      const kept = [];
      for (let i = 0; i < n; ++i) if (this.lower[i].includes(this.needle)) kept.push(i);
      this.found = Uint32Array.from(kept);
    }
    this.arrange();
  }

  sortBy(key) {
    this.sort = { by: key, down: this.sort.by === key ? !this.sort.down : key !== "name" };
    this.arrange();
  }

  arrange() {
    const { by, down } = this.sort, sign = down ? -1 : 1;
    // Names ascend as they are: equal values stay in that order.
    if (by === "name") this.order = down ? this.found.slice().reverse() : this.found;
    else {
      const values = this.column(by), key = by === "size" ? Float64Array.from(values, Math.abs) : values;
      this.order = this.found.slice().sort((a, b) => sign * (key[a] - key[b]) || a - b);
    }
    for (const cell of this.head.children) {
      const key = cell.firstChild.dataset.sort;
      if (key === by) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
    this.count.textContent = `${this.order.length.toLocaleString("en")} of ${this.model.names.length.toLocaleString("en")} features`;
    this.sizer.style.height = `${Math.min(TALLEST, (this.order.length + 2) * ROW)}px`;
    this.table.setAttribute("aria-rowcount", String(this.order.length + 1));
    this.view.scrollTop = 0;
    this.draw();
  }

  visible() {
    return Math.max(1, Math.floor(this.view.clientHeight / ROW) - 1);
  }
  perRow() {
    const hidden = this.order.length - this.visible();
    return hidden > 0 ? (this.sizer.offsetHeight - this.view.clientHeight) / hidden : ROW;
  }

  draw() {
    const first = Math.max(0, Math.min(this.order.length - this.visible(), Math.round(this.view.scrollTop / this.perRow())));
    const weights = this.column("weight"), std = this.std === null ? null : this.column("std");
    const rows = [];
    for (let k = first; k < Math.min(this.order.length, first + this.visible()); ++k) {
      const i = this.order[k], name = this.model.names[i];
      const cells = [element("th", { scope: "row", title: shownName(name, 1000) }, shownName(name)),
        element("td", { class: `number ${weights[i] < 0 ? "against" : "for"}` }, short(weights[i])),
        element("td", { class: "number" }, short(Math.abs(weights[i])))];
      if (std !== null) cells.push(element("td", { class: "number" }, short(std[i])));
      rows.push(element("tr", { "aria-rowindex": String(k + 2) }, ...cells));
    }
    this.body.replaceChildren(...rows);
  }
}
