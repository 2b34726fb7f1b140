// What is typed to a row of features: objects by the schema, as JSON lines are read; Vowpal Wabbit and svmlight text.
const MISSING = new Set(["NA", "NaN", "nan", "null", "NULL", "?"]);
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

// The decimal number in a text, rounded once to a float, as the core does.
function floatOf(text) {
  const x = Number(text), nearest = Math.fround(x);
  if (!Number.isFinite(x) || !Number.isFinite(nearest)) throw new Error(`${text} is too large`);
  // Rounding twice goes wrong only where the double lies in the middle of two floats: there the digits decide.
  if (nearest === x) return nearest;
  const other = nextFloat(nearest, x > nearest);
  if (Math.abs(x - nearest) !== Math.abs(other - x)) return nearest;
  const side = compareDecimal(text, x);
  if (side === 0) return nearest;
  return side > 0 ? Math.max(nearest, other) : Math.min(nearest, other);
}

function nextFloat(x, up) {
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, x);
  const bits = view.getInt32(0);
  view.setInt32(0, x === 0 ? (up ? 1 : -2147483647) : bits + (up === x > 0 ? 1 : -1));
  return view.getFloat32(0);
}

// -1, 0 or 1: the exact value of the text against a double.
function compareDecimal(text, x) {
  const [mantissa, exponent = "0"] = text.toLowerCase().replace(/^\+/, "").split("e");
  const [whole, fraction = ""] = mantissa.split(".");
  let digits = BigInt(whole.replace("-", "") + fraction || "0"), power = Number(exponent) - fraction.length;
  if (mantissa.startsWith("-")) digits = -digits;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x);
  const bits = view.getBigUint64(0), raw = Number(bits >> 52n & 2047n);
  let binary = (bits & (1n << 52n) - 1n) + (raw > 0 ? 1n << 52n : 0n), scale = Math.max(raw, 1) - 1075;
  if (x < 0) binary = -binary;
  if (power < 0) binary *= 10n ** BigInt(-power);
  else digits *= 10n ** BigInt(power);
  if (scale < 0) digits <<= BigInt(-scale);
  else binary <<= BigInt(scale);
  return digits < binary ? -1 : digits > binary ? 1 : 0;
}

// Features in the order of first appearance; a name that comes again adds its value. Zeros count for nothing.
class Row {
  constructor(crosses = []) {
    this.features = new Map();
    this.groups = [...new Set(crosses.flat())];
    this.products = crosses;
    this.texts = [];  // {column, text, words}, of which n-grams know their words
  }
  add(name, value, group = null, from = null) {
    if (value === 0) return;
    if (!Number.isFinite(value)) throw new Error(`the value of ${name} is too large`);
    const known = this.features.get(name);
    if (known === undefined) this.features.set(name, { value, group, from });
    else known.value = Math.fround(known.value + value);
  }
  finish() {
    for (const [name, { value }] of this.features) if (value === 0) this.features.delete(name);
    const own = [...this.features];
    for (const product of this.products) this.multiply(product, 0, own, []);
    return this;
  }
  multiply(product, which, own, chosen) {
    if (which === product.length) {
      const value = chosen.reduce((all, i) => Math.fround(all * own[i][1].value), 1);
      this.add(chosen.map((i) => own[i][0]).join("*"), value);
      return;
    }
    const again = which > 0 && product[which] === product[which - 1];
    for (let i = again ? chosen[which - 1] + 1 : 0; i < own.length; ++i)
      if (own[i][1].group === product[which]) this.multiply(product, which + 1, own, [...chosen, i]);
  }
}

// A number of JSON, by its digits: as a category it is these digits.
class Digits {
  constructor(text) {
    this.text = text;
  }
}

// JSON with its numbers as Digits, and objects as lists of [key, value].
function parseJson(text) {
  const word = /\s*(?:(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)|("(?:[^"\\\u0000-\u001f]|\\.)*")|(true|false|null)|([[\]{},:]))/y;
  let token = null;
  const next = () => {
    const start = word.lastIndex;
    const match = word.exec(text);
    token = match;
    if (match === null && text.slice(start).trim() !== "")
      throw new Error(`not JSON at character ${start + 1}: ${text.slice(start, start + 20)}`);
  };
  const sign = () => (token === null ? undefined : token[4]);
  const expect = (wanted) => {
    if (sign() !== wanted) throw new Error(`not JSON: ${wanted} is missing`);
    next();
  };
  const several = (end, one) => {
    const out = [];
    next();
    while (sign() !== end) {
      out.push(one());
      if (sign() === ",") {
        next();
        if (sign() === end) throw new Error("not JSON: something is missing behind a comma");
      } else if (sign() !== end) throw new Error(`not JSON: , or ${end} is missing`);
    }
    next();
    return out;
  };
  const pair = () => {
    if (token === null || token[2] === undefined) throw new Error("not JSON: a key in quotes is missing");
    const key = JSON.parse(token[2]);
    next();
    expect(":");
    return [key, value()];
  };
  const value = () => {
    if (token === null) throw new Error("not JSON: it ends too early");
    if (sign() === "{") return { pairs: several("}", pair) };
    if (sign() === "[") return several("]", value);
    if (sign() !== undefined) throw new Error(`not JSON: ${sign()} where a value should be`);
    const read = token[1] !== undefined ? new Digits(token[1]) : JSON.parse(token[2] ?? token[3]);
    next();
    return read;
  };
  next();
  const whole = value();
  if (token !== null) throw new Error("not JSON: more behind the end");
  return whole;
}

class ObjectReader {
  // columns: {name, role, absent, edges, buckets, centre, scale, text}, as the core knows them.
  constructor(schema, characters, counts) {
    this.schema = schema;
    this.counts = counts;  // in how many texts n-grams were, by their keys
    this.characters = characters;
    this.columns = new Map(schema.columns.map((column) => [column.name, column]));
    this.absent = new Set(schema.absent);
    this.groups = new Set(schema.crosses.flat());
  }
  read(object) {
    this.row = new Row(this.schema.crosses);
    this.seen = new Set();
    this.readPairs(object.pairs, "", { column: null, group: null });
    if (this.schema.missing && !this.schema.open)
      for (const column of this.schema.columns)
        if (column.feature && !this.seen.has(column.name))
          this.row.add(column.absent, 1, this.groups.has(column.name) ? column.name : null, column.name);
    return this.row.finish();
  }
  readPairs(pairs, path, outer) {
    for (const [key, value] of pairs) {
      const here = path === "" ? key : `${path}.${key}`;
      this.readValue(value, here, this.placeOf(here, outer));
    }
  }
  placeOf(path, outer) {
    let { column, group } = outer;
    if (column === null || column.role === "free") {
      const found = this.columns.get(path);
      if (found !== undefined) {
        column = found;
        this.seen.add(path);
      }
    }
    return { column, group: this.groups.has(path) ? path : group };
  }
  role(place) {
    return place.column === null ? "free" : place.column.role;
  }
  readValue(value, path, place) {
    const role = this.role(place);
    if (!Array.isArray(value) && value !== null && typeof value === "object" && value.pairs !== undefined) {
      if (["number", "log1p", "bucket", "text"].includes(role)) throw this.wrongKind(place.column, "an object");
      if (!["label", "weight", "offset"].includes(role)) this.readPairs(value.pairs, path, place);
      return;
    }
    if (Array.isArray(value)) {
      if (["number", "log1p", "bucket"].includes(role)) throw this.wrongKind(place.column, "a list");
      value.forEach((each, i) => this.readValue(each, typeof each === "string" ? path : `${path}.${i}`, place));
      return;
    }
    if (!place.column?.feature && place.column !== null) return;
    if (value === null) return this.readNull(path, place);
    if (this.schema.open === false && place.column === null)
      throw new Error(`the model has no column ${JSON.stringify(path)}`);
    if (typeof value === "string") return this.readText(value, path, place);
    if (role === "category") {
      const digits = value instanceof Digits ? withoutZeros(value.text) : String(value);
      return this.row.add(`${path}=${digits}`, 1, place.group, path);
    }
    this.takeNumber(value instanceof Digits ? floatOf(value.text) : Number(value), path, place);
  }
  readNull(path, place) {
    if (this.schema.missing && (place.column !== null || this.schema.open))
      this.row.add(`${path}=?`, 1, place.group, path);
  }
  readText(value, path, place) {
    const role = this.role(place), column = place.column;
    if (["number", "log1p", "bucket"].includes(role)) {
      const word = value.replace(/^[ \t\r]+|[ \t\r]+$/g, "");
      if (word === "" || MISSING.has(word) || this.absent.has(word)) return this.readNull(path, place);
      if (!NUMBER.test(word)) throw this.wrongKind(column, JSON.stringify(value));
      return this.takeNumber(floatOf(word), path, place);
    }
    if (role === "text") {
      if (value === "" || this.absent.has(value)) return this.readNull(path, place);
      const { words, features } = textFeatures(value, column.text, this.characters);
      if (column.text.documents !== null) weighByTexts(features, column, this.counts);
      const text = { column: column.name, text: value, words };
      this.row.texts.push(text);
      for (const each of features)
        this.row.add(`${column.name}^${each.name}`, each.value, place.group, { text, words: each.words });
      return;
    }
    if (this.absent.has(value)) return this.readNull(path, place);
    this.row.add(`${path}=${value}`, 1, place.group, path);
  }
  takeNumber(value, path, place) {
    const column = place.column, role = this.role(place);
    if (role === "text") throw this.wrongKind(column, "a number");
    if (role === "bucket") {
      let bucket = 0;
      while (bucket < column.edges.length && value >= column.edges[bucket]) ++bucket;
      return this.row.add(column.buckets[bucket], 1, place.group, path);
    }
    if (role === "log1p") value = Math.fround(value < 0 ? -Math.log1p(-value) : Math.log1p(value));
    else if (role === "number" && (column.centre !== 0 || column.scale !== 1))
      value = Math.fround((value - column.centre) / column.scale);
    this.row.add(path, value, place.group, path);
  }
  wrongKind(column, what) {
    const wanted = column.role === "text" ? "a text" : "a number";
    return new Error(`column ${JSON.stringify(column.name)} wants ${wanted}, not ${what}`);
  }
}

// 7 is how other formats have 7.0.
function withoutZeros(text) {
  return /^-?\d+\.0*$/.test(text) ? text.slice(0, text.indexOf(".")) : text;
}

// Features behind the bars of a line: |space:weight name:value name
function readVw(line, crosses) {
  const row = new Row(crosses), groups = new Set(crosses.flat()), bar = line.indexOf("|");
  if (bar < 0) throw new Error("no | in it: features stand behind a bar, such as |words free entry:2");
  if (/\n/.test(line.trim())) throw new Error("several lines: one example, please");
  for (const part of line.trim().slice(line.trimStart().indexOf("|") + 1).split("|")) {
    const words = part.split(/[ \t\r]+/), [space, weight] = splitColon(words.shift());
    const factor = weight === undefined ? 1 : valueOf(weight, space);
    let unnamed = 0;
    for (const each of words) {
      if (each === "") continue;
      let [name, value] = splitColon(each);
      if (name === "") name = String(unnamed++);
      const x = Math.fround((value === undefined ? 1 : valueOf(value, each)) * factor);
      row.add(space === "" ? name : `${space}^${name}`, x, groups.has(space) ? space : null, space);
    }
  }
  return row.finish();
}
function splitColon(word) {
  const at = word.indexOf(":");
  return at < 0 ? [word] : [word.slice(0, at), word.slice(at + 1)];
}
function valueOf(text, where) {
  if (!NUMBER.test(text)) throw new Error(`${JSON.stringify(text)} of ${JSON.stringify(where)} is no number`);
  return floatOf(text);
}

// number:value pairs, with or without a label before them.
function readNumbered(line, base) {
  const row = new Row(), words = line.split("#")[0].trim().split(/\s+/).filter((word) => word !== "");
  if (words.length > 0 && !words[0].includes(":")) words.shift();
  for (const word of words) {
    const [index, value] = splitColon(word);
    if (!/^\d+$/.test(index) || value === undefined || BigInt(index) < BigInt(base))
      throw new Error(`${JSON.stringify(word)} is no feature such as ${base + 2}:0.5`);
    const name = String(BigInt(index));
    if (row.features.has(name)) throw new Error(`feature ${name} is there twice`);
    row.add(name, valueOf(value, word));
  }
  return row.finish();
}
