// Texts to words and n-grams, as the core has them (see docs/text.md). The tables of characters come with the page.
const OTHER = 0, LETTER = 1, DIGIT = 2, MARK = 3, IDEOGRAPH = 4, LEFT_OUT = 5, APOSTROPHE = 6, CONNECTOR = 7,
      BETWEEN_LETTERS = 8, BETWEEN_DIGITS = 9;
const LONGEST_WORD = 256;  // bytes of UTF-8

// What may stand before and behind a character that is inside a word for that reason only.
const JOINED = {
  [APOSTROPHE]: new Set([LETTER, MARK]),
  [BETWEEN_LETTERS]: new Set([LETTER, MARK]),
  [BETWEEN_DIGITS]: new Set([DIGIT]),
  [CONNECTOR]: new Set([LETTER, MARK, DIGIT]),
};

class Characters {
  // Rows of first, last, kind; and of first, last, step, what every step-th is folded by.
  constructor(kinds, folds) {
    this.kinds = kinds;
    this.folds = folds;
  }
  static find(ranges, width, point) {
    let low = 0, high = ranges.length / width;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ranges[middle * width + 1] < point) low = middle + 1;
      else high = middle;
    }
    return low * width < ranges.length && ranges[low * width] <= point ? low * width : -1;
  }
  kind(point) {
    const at = Characters.find(this.kinds, 3, point);
    return at < 0 ? OTHER : this.kinds[at + 2];
  }
  fold(point) {
    const at = Characters.find(this.folds, 4, point);
    if (at < 0 || (point - this.folds[at]) % this.folds[at + 2] !== 0) return point;
    return point + this.folds[at + 3];
  }
}

function utf8Size(point) {
  return point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
}

// The words of a text: {word, from, to}, where it stands in the text.
function wordsOf(text, characters) {
  const points = [], kinds = [OTHER], places = [];
  for (let i = 0; i < text.length;) {
    let point = text.codePointAt(i);
    const size = point > 0xffff ? 2 : 1;
    if (point >= 0xd800 && point <= 0xdfff) point = 0xfffd;  // half a character is none
    const kind = characters.kind(point);
    if (kind !== LEFT_OUT) {
      points.push(point);
      kinds.push(kind);
      places.push([i, i + size]);
    }
    i += size;
  }
  kinds.push(OTHER);
  const found = [];
  let before = "";  // what the last word is made of, or nothing where it has ended
  for (let i = 1; i <= points.length; ++i) {
    const kind = kinds[i], joined = JOINED[kind];
    const inside = (kind >= LETTER && kind <= IDEOGRAPH) ||
                   (joined !== undefined && joined.has(kinds[i - 1]) && joined.has(kinds[i + 1]));
    if (!inside) {
      before = "";
      continue;
    }
    if (kind === IDEOGRAPH || before === "" || (before === "ideograph" && kind !== MARK)) {
      found.push({ word: "", size: 0, from: places[i - 1][0], to: 0 });
      before = kind === IDEOGRAPH ? "ideograph" : "run";
    }
    const last = found[found.length - 1], folded = characters.fold(points[i - 1]);
    last.word += String.fromCodePoint(folded);
    last.size += utf8Size(folded);
    last.to = places[i - 1][1];
  }
  return found.filter((each) => each.size <= LONGEST_WORD);
}

// How often each n-gram occurs and which words it is of, in the order of first appearance.
function ngramsOf(words, spans) {
  const [wordsLow, wordsHigh, charsLow, charsHigh] = spans;
  const found = new Map();
  const add = (name, first, last) => {
    const entry = found.get(name) ?? { count: 0, words: new Set() };
    entry.count += 1;
    for (let k = first; k <= last; ++k) entry.words.add(k);
    found.set(name, entry);
  };
  words.forEach(({ word }, i) => {
    for (let n = wordsLow; wordsHigh > 0 && n <= Math.min(wordsHigh, i + 1); ++n)
      add(words.slice(i + 1 - n, i + 1).map((each) => each.word).join(" "), i + 1 - n, i);
    if (charsHigh === 0) return;
    const whole = Array.from(`<${word}>`);
    for (let n = Math.min(charsLow, whole.length); n <= Math.min(charsHigh, whole.length); ++n)
      for (let k = 0; k + n <= whole.length; ++k) add("~" + whole.slice(k, k + n).join(""), i, i);
  });
  return found;
}

// The n-grams of a text with their values, floats as the core keeps them.
function textFeatures(text, options, characters) {
  const words = wordsOf(text, characters);
  const found = [...ngramsOf(words, options.spans)].map(([name, { count, words: places }]) => {
    let value = count;
    if (options.weight === "presence") value = 1;
    else if (options.weight === "log" && count > 1) value = 1 + Math.log(count);
    return { name, value: Math.fround(value), words: places };
  });
  if (options.norm) {
    const length = Math.sqrt(found.reduce((sum, each) => sum + each.value * each.value, 0));
    for (const each of found) each.value = Math.fround(each.value / length);
  }
  return { words, features: found };
}

// Times the inverse document frequency, by the texts that the model has learned; then of length one, where that is wanted.
function weighByTexts(features, column, counts) {
  const all = 1 + column.text.documents;
  for (const each of features) {
    const key = Hash.keyOf(`${column.name}^${each.name}`);
    const holding = 1 + (counts.get(`${key >> 32n},${key & 0xffffffffn}`) ?? 0);
    each.value = Math.fround(each.value * (1 + Math.log(Math.max(1, all / holding))));
  }
  if (!column.text.divides) return;
  const length = Math.sqrt(features.reduce((sum, each) => sum + each.value * each.value, 0));
  for (const each of features) each.value = Math.fround(each.value / length);
}
