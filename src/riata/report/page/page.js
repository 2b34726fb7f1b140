// Puts the page to work: unpacks the model, builds the table and the form.
async function start() {
  const data = document.getElementById("model-data");
  if (data === null) return;
  const page = JSON.parse(data.textContent), about = page.model;
  const status = document.getElementById("status");
  try {
    const parts = await Unpack.parts(document.getElementById("model-parts").textContent, about.packed, about.index);
    parts.shown ??= parts.weights;
    page.characters = new Characters(page.kinds, page.folds);
    page.counts = new Map();
    parts.text_counts?.forEach((count, i) => page.counts.set(`${parts.text_high[i]},${parts.text_low[i]}`, count));
    page.scales = new Map(page.schema.columns
      .filter((column) => column.feature && column.role === "number" && column.scale !== 1)
      .map((column) => [column.name, column.scale]));
    const model = new Model(about, parts), form = new Form(model, page);
    const table = new FeatureTable(model, page, document.getElementById("features"));
    const place = document.getElementById("form");
    if (place !== null) {
      form.build(place);
      form.update();
    }
    // To score many lines from a script or the console.
    window.riata = { model, form, table, score: (line) => model.score(form.rowOf(line)), ready: performance.now() };
    status?.remove();
    document.documentElement.dataset.ready = "yes";
  } catch (error) {
    if (status !== null) status.textContent = `This page cannot be used here: ${error.message}`;
    document.documentElement.dataset.ready = "no";
  }
}
start();
