// The parts of a page that were packed by packing.py.
const Unpack = {
  // Characters of a 91-letter alphabet, two for 13 bits, to bytes; the last bits are filled with zeros.
  bytes(text) {
    const values = new Int16Array(128).fill(-1);
    let next = 0;
    for (let c = 33; c < 127; ++c) if (!"<&\\".includes(String.fromCharCode(c))) values[c] = next++;
    const out = new Uint8Array(Math.floor((text.length / 2) * 13 / 8));
    let bits = 0, have = 0, at = 0;
    for (let i = 0; i + 1 < text.length; i += 2) {
      bits = (bits << 13) | (values[text.charCodeAt(i)] * 91 + values[text.charCodeAt(i + 1)]);
      have += 13;
      while (have >= 8) {
        have -= 8;
        out[at++] = bits >>> have & 255;
      }
      bits &= (1 << have) - 1;
    }
    return out;
  },

  async inflate(bytes, size) {
    if (typeof DecompressionStream === "undefined")
      throw new Error("this browser cannot unpack the model: use one of 2023 or newer");
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const out = new Uint8Array(await new Response(stream).arrayBuffer());
    if (out.length !== size) throw new Error("the model in this page is damaged");
    return out;
  },

  numbers(content, about) {
    const width = about.kind === "f64" ? 8 : 4, n = about.count;
    const bytes = new Uint8Array(n * width);
    for (let b = 0; b < width; ++b) {
      const from = about.at + b * n;
      for (let i = 0; i < n; ++i) bytes[i * width + b] = content[from + i];
    }
    return width === 8 ? new Float64Array(bytes.buffer) : new Float32Array(bytes.buffer);
  },

  names(content, about) {
    const decoder = new TextDecoder("utf-8");
    let name = new Uint8Array(256), at = about.at;
    const number = () => {
      let value = 0, shift = 1;
      for (;;) {
        const byte = content[at++];
        value += (byte & 127) * shift;
        if (byte < 128) return value;
        shift *= 128;
      }
    };
    const out = new Array(about.count);
    for (let i = 0; i < about.count; ++i) {
      const shared = number(), more = number(), size = shared + more;
      if (size > name.length) {
        const larger = new Uint8Array(2 * size);
        larger.set(name);
        name = larger;
      }
      let ascii = true;
      for (let k = shared; k < size; ++k) name[k] = content[at++];
      for (let k = 0; k < size && ascii; ++k) ascii = name[k] < 128;
      out[i] = ascii && size < 200 ? String.fromCharCode.apply(null, name.subarray(0, size))
                                   : decoder.decode(name.subarray(0, size));
    }
    return out;
  },

  async parts(text, packed, index) {
    const size = Object.values(index).reduce((most, part) => Math.max(most, part.at + part.size), 0);
    const content = await Unpack.inflate(Unpack.bytes(text).subarray(0, packed), size);
    const out = {};
    for (const [name, about] of Object.entries(index))
      out[name] = about.kind === "names" ? Unpack.names(content, about) : Unpack.numbers(content, about);
    return out;
  },
};
