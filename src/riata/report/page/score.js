// Rows of features to scores and probabilities, by what the page knows of the model.
const EIGHTH_OF_PI = 0.39269908169872414;

function sigmoid(z) {
  const e = Math.exp(-Math.min(Math.abs(z), 708));
  return (z < 0 ? e : 1) / (1 + e);
}
function shares(each) {
  const total = each.reduce((sum, p) => sum + p, 0);
  return each.map((p) => (total > 0 ? p / total : 1 / each.length));
}
const log1pExp = (z) => Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z)));
// Of probabilities in proportion to exp(scores): the log odds of each against the others together.
function againstOthers(scores) {
  return scores.map((score, o) => {
    const others = scores.filter((_, other) => other !== o), most = Math.max(...others);
    return score - most - Math.log(others.reduce((sum, each) => sum + Math.exp(each - most), 0));
  });
}
const mean = (each) => each.reduce((sum, x) => sum + x, 0) / each.length;
// How the log odds of an average of probabilities follow each of the log odds, by parts of one.
function slopes(odds, logWeights) {
  const each = odds.map((z, c) => logWeights[c] - log1pExp(z) - log1pExp(-z)), most = Math.max(...each);
  const parts = each.map((l) => Math.exp(l - most)), total = parts.reduce((sum, part) => sum + part, 0);
  return parts.map((part) => part / total);
}

// The complementary error function: a series of positive terms near zero, a continued fraction farther out.
function erfc(x) {
  if (x < 0) return 2 - erfc(-x);
  if (x < 2.5) {
    let term = x, sum = x;
    for (let n = 1; n < 100 && term > sum * 1e-17; ++n) sum += term *= (2 * x * x) / (2 * n + 1);
    return 1 - (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
  }
  let f = x;
  for (let k = 60; k >= 1; --k) f = x + k / 2 / f;
  return Math.exp(-x * x) / (Math.sqrt(Math.PI) * f);
}
const normal = (z) => 0.5 * erfc(-z * Math.SQRT1_2);
function logNormal(z) {  // ln of it, also far out
  if (z > -10) return z > 0 ? Math.log1p(-normal(-z)) : Math.log(normal(z));
  let f = -z;
  for (let k = 24; k >= 2; --k) f = -z + k / f;
  return -0.5 * z * z - 0.9189385332046728 - Math.log(1 / f - z);
}

// The 63-bit key of a name, as the core hashes it.
const Hash = {
  MASK: (1n << 64n) - 1n,
  fold(a, b) {
    const product = a * b;
    return (product & Hash.MASK) ^ (product >> 64n);
  },
  word(bytes, from, to) {
    let word = 0n;
    for (let i = Math.min(to, from + 8) - 1; i >= from; --i) word = word << 8n | BigInt(bytes[i]);
    return word;
  },
  keyOf(name) {
    const bytes = new TextEncoder().encode(name);
    const a = 0xa0761d6478bd642fn, b = 0xe7037ed1a0b428dbn;
    let hash = 0x2545f4914f6cdd1dn ^ Hash.fold(BigInt(bytes.length) ^ a, b), at = 0;
    for (; bytes.length - at > 16; at += 16)
      hash = Hash.fold(Hash.word(bytes, at, at + 8) ^ a ^ hash, Hash.word(bytes, at + 8, at + 16) ^ b);
    const low = Hash.word(bytes, at, bytes.length);
    const high = bytes.length - at > 8 ? Hash.word(bytes, at + 8, bytes.length) : 0n;
    return Hash.fold(low ^ a ^ hash, high ^ b ^ hash) >> 1n;
  },
  bucket(key, bits) {
    const scattered = ((key ^ key >> 32n) * 0x9e3779b97f4a7c15n) & ((1n << 63n) - 1n);
    return scattered >> BigInt(63 - bits);
  },
};

class Model {
  constructor(about, parts) {
    Object.assign(this, about);
    this.parts = parts;
    this.names = parts.names;
    this.places = null;
  }
  // Where a feature stands among those of the page, or -1.
  place(name) {
    if (this.places === null) {
      this.places = new Map();
      this.names.forEach((each, i) => this.places.set(each, i));
    }
    const key = this.lookup === "name" ? name : this.lookup === "number"
      ? (this.bits === null ? name : String(Hash.bucket(BigInt(name) - BigInt(this.base), this.bits)))
      : String(this.bits === null ? Hash.keyOf(name) : Hash.bucket(Hash.keyOf(name), this.bits));
    return this.places.get(key) ?? -1;
  }

  // Scores and probabilities of a row, what each feature adds to the score of `output`, and what else does.
  score(row, output = null) {
    const found = [...row.features].map(([name, { value, from }]) => ({ name, x: value, from, at: this.place(name) }));
    const parts = this.kind === "auto" ? this.auto(found) : null;
    const scores = parts === null ? this[this.kind](found) : parts.map(({ score }) => score);
    const probabilities = this.probabilities(scores);
    const best = this.outputs === 1 ? 0 : scores.indexOf(Math.max(...scores));
    const shown = output ?? best;
    const factor = this.kind === "linear" ? this.factor(found) : 1;
    const { adds, intercept } = parts?.[shown].explained() ?? {
      adds: found.map((each) => (each.at < 0 ? 0 : factor * this.added(each, shown))), intercept: this.shown_intercept[shown],
    };
    const terms = found.map((each, i) => ({ ...each, adds: adds[i] }));
    const explained = terms.reduce((sum, each) => sum + each.adds, intercept);
    return {
      scores, probabilities, best, output: shown, terms, intercept,
      rest: scores[shown] - explained,
      bound: this.bound(found, factor),
    };
  }

  // What a feature adds to a score by the weights that are shown, or by those on what components see of its value.
  added({ at, x }, o) {
    const n = this.names.length;
    if (this.kind !== "bayesian") return x * this.parts.shown[o * n + at];
    const k = this.components.length, shares = this.log_evidence[o].map(Math.exp);
    const total = shares.reduce((sum, share) => sum + share, 0);
    return this.components.reduce((sum, { view }, c) =>
      sum + (shares[c] / total) * this.seen(view, x) * this.parts.means[(o * k + c) * n + at], 0);
  }

  // How far scores may be from those of the model, for what of it is not in the page.
  bound(found, factor) {
    let off = 0;
    for (const each of found) {
      if (each.at < 0) off += this.cut * Math.abs(each.x);
      else if (this.precision === 32)
        for (let o = 0, n = this.names.length, most = 0; o < this.outputs; ++o) {
          const now = Math.abs(this.parts.shown[o * n + each.at] * each.x) * 6e-8;
          if (now > most) off += now - most, most = now;
        }
    }
    return off * factor;
  }

  probabilities(scores) {
    if (this.probability === null) return null;
    const chance = { probit: normal, modified_huber: (s) => (Math.min(1, Math.max(-1, s)) + 1) / 2 }[this.probability] ?? sigmoid;
    if (scores.length === 1) return [1 - chance(scores[0]), chance(scores[0])];
    if (this.probability === "shared") return shares(scores.map(sigmoid));
    if (this.probability === "modified_huber") return shares(scores.map(chance));  // it may be sure of several
    // Given that exactly one class is right: in proportion to the odds of each.
    const odds = this.probability === "probit" ? scores.map((s) => logNormal(s) - logNormal(-s)) : scores;
    const most = Math.max(...odds);
    return shares(odds.map((z) => Math.exp(z - most)));
  }

  factor(found) {
    if (this.normalize === "none" || found.length === 0) return 1;
    if (this.normalize === "sqrt_nnz") return 1 / Math.sqrt(found.length);
    return 1 / Math.sqrt(found.reduce((sum, { x }) => sum + x * x, 0));
  }

  linear(found) {
    const n = this.names.length, factor = this.factor(found), [low, high] = this.clip ?? [-Infinity, Infinity];
    return this.intercept.map((intercept, o) => {
      let dot = 0;
      for (const { at, x } of found) if (at >= 0) dot += x * this.parts.weights[o * n + at];
      return Math.min(high, Math.max(low, factor * dot + intercept));
    });
  }

  priorOf(name, common) {
    const own = this.named_variances[name] ?? this.named_variances[name.split(/[\^=]/, 1)[0]];
    return own === undefined ? common : own;
  }
  seen(view, x) {
    if (view === "binary") return 1;
    return view === "log1p" ? Math.sign(x) * Math.log1p(Math.abs(x)) : x;
  }
  bayesian(found) {
    const n = this.names.length, k = this.components.length, probit = this.link === "probit";
    const shrink = probit ? 1 : EIGHTH_OF_PI;
    return Array.from({ length: this.outputs }, (_, o) => {
      const margins = this.components.map(({ view, variance }, c) => {
        let mean = this.intercept_means[o][c], spread = this.intercept_variances[o][c];
        const column = (o * k + c) * n;
        for (const { name, at, x: value } of found) {
          if (at < 0 && this.unseen === "ignore") continue;
          const x = at < 0 && this.scaled ? Math.sign(value) : this.seen(view, value);
          mean += x * (at < 0 ? this.prior_mean : this.parts.means[column + at]);
          spread += x * x * (at < 0 ? this.priorOf(name, variance) : this.parts.variances[column + at]);
        }
        return mean / Math.sqrt(1 + shrink * spread);
      });
      return this.correct(this.average(margins, this.log_evidence[o], probit), o);
    });
  }
  // The log odds of the average of probabilities; margins and logarithms of weights.
  average(margins, logWeights, probit = false) {
    if (margins.length === 1) return probit ? logNormal(margins[0]) - logNormal(-margins[0]) : margins[0];
    const log = (z) => (probit ? logNormal(z) : -log1pExp(-z));
    const total = (sign) => {
      const each = margins.map((z, c) => logWeights[c] + log(sign * z)), most = Math.max(...each);
      return most + Math.log(each.reduce((sum, l) => sum + Math.exp(l - most), 0));
    };
    return total(1) - total(-1);
  }
  // Log odds put right by how they did so far.
  correct(score, o) {
    if (this.correction === null) return score;
    const s = Math.min(100, Math.max(-100, score)), rest = Math.log1p(Math.exp(-Math.abs(s)));
    const [a, b, c] = this.correction[o];
    return a * (Math.min(s, 0) - rest) + b * (Math.max(s, 0) + rest) + c;
  }

  auto(found) {
    const n = this.names.length, { counts, squares, means, variances } = this.parts;
    const rms = found.map(({ at, x }) => {
      const count = 1 + (at < 0 ? 0 : counts[at]), total = x * x + (at < 0 ? 0 : squares[at]);
      return x / Math.sqrt(total / count);
    });
    const unit = (values) => {
      const length = Math.sqrt(values.reduce((sum, x) => sum + x * x, 0));
      return values.map((x) => (length > 0 ? x / length : 0));
    };
    const raw = found.map(({ x }) => x);
    const views = { raw, rms, unit: unit(raw), "unit-rms": unit(rms) };
    const outputs = Array.from({ length: this.outputs }, (_, o) => o), column = (o, c) => (o * this.members.length + c) * n;
    const shared = this.probability === "shared";
    const shrunk = outputs.map(() => []);
    let odds = outputs.map((o) => this.members.map(({ rule, view, parameter }, c) => {
      const x = views[view];
      let dot = this.intercept_means[o][c], spread = this.intercept_variances[o][c];
      found.forEach(({ at }, i) => {
        if (at >= 0) dot += x[i] * means[column(o, c) + at];
        if (rule === "bayesian") spread += x[i] * x[i] * (at < 0 ? parameter : variances[column(o, c) + at]);
      });
      shrunk[o][c] = rule === "bayesian" ? Math.sqrt(1 + EIGHTH_OF_PI * spread) : 1;
      return dot / shrunk[o][c];
    }));
    if (shared) {
      const each = this.members.map((_, c) => againstOthers(odds.map((own) => own[c])));
      odds = outputs.map((o) => each.map((own) => own[o]));
    }
    // A mean of weights over the classes is the same for all of them where they share a probability, and says nothing.
    const weight = (o, c, at) => means[column(o, c) + at] - (shared ? mean(outputs.map((other) => means[column(other, c) + at])) : 0);
    const first = (o, c) => this.intercept_means[o][c] - (shared ? mean(this.intercept_means.map((own) => own[c])) : 0);
    return outputs.map((o) => {
      const margins = odds[o].map((z, c) => this.factors[o][c] * z + this.constants[o][c]);
      // What features and the intercept add to the log odds of each setting, weighted by how the average follows it here.
      const explained = () => {
        const parts = slopes(margins, this.log_evidence[o]);
        const kept = parts.map((part, c) => (part * this.factors[o][c]) / shrunk[o][c]);
        const adds = found.map(({ at }, i) => (at < 0 ? 0 : this.members.reduce(
          (sum, { view }, c) => sum + kept[c] * views[view][i] * weight(o, c, at), 0)));
        const intercept = kept.reduce((sum, each, c) => sum + each * first(o, c) + parts[c] * this.constants[o][c], 0);
        return { adds, intercept };
      };
      return { score: this.correct(this.average(margins, this.log_evidence[o]), o), explained };
    });
  }
}
