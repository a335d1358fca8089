// Reads a part of the page's data: named columns, as docs/page.md describes them and src/export/columns.cpp writes them.
import {visibleText} from './visible_text';

const MAGIC = 'tarsier-columns-1\n';
const enum Kind {Numbers = 0, Differences = 1, Texts = 2, Sparse = 3}

const damaged = (): Error => new Error('the data of this page is damaged');

// A part of a page that is larger than any that the command writes is damage, not a reason to allocate.
const MOST_ROWS = 1 << 27;

class Reader {
  constructor(private readonly bytes: Uint8Array, private at = 0, private readonly end = bytes.length) {}

  number(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      if (this.at >= this.end) throw damaged();
      const byte = this.bytes[this.at++]!;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
      if (scale > 2 ** 56) throw damaged();
    }
  }

  // The next so many bytes, as a reader of their own.
  part(length: number): Reader {
    if (length > this.end - this.at) throw damaged();
    const begin = this.at;
    this.at += length;
    return new Reader(this.bytes, begin, this.at);
  }

  left(): number {
    return this.end - this.at;
  }

  again(): Reader {
    return new Reader(this.bytes, this.at, this.end);
  }

  text(decoder: TextDecoder, length: number): string {
    if (length > this.end - this.at) throw damaged();
    return decoder.decode(this.bytes.subarray(this.at, (this.at += length)));
  }
}

interface Column {
  readonly kind: number;
  readonly rows: number;
  readonly reader: () => Reader;
}

function numbersOf(column: Column): Float64Array {
  const reader = column.reader();
  const into = new Float64Array(column.rows);
  switch (column.kind) {
    case Kind.Numbers:
      for (let i = 0; i < into.length; i++) into[i] = reader.number();
      return into;
    case Kind.Differences: {
      let last = 0;
      for (let i = 0; i < into.length; i++) {
        const zigzag = reader.number();
        last += zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
        into[i] = last;
      }
      return into;
    }
    case Kind.Sparse:
      for (let at = -1; reader.left() > 0;) {
        at += reader.number();
        if (at < 0 || at >= into.length) throw damaged();
        into[at] = reader.number();
      }
      return into;
    default:
      throw damaged();
  }
}

export class Columns {
  private readonly columns = new Map<string, Column>();
  private readonly numberCache = new Map<string, Float64Array>();
  private readonly textCache = new Map<string, readonly string[]>();

  constructor(bytes: Uint8Array) {
    const decoder = new TextDecoder('utf-8');
    const reader = new Reader(bytes);
    if (bytes.length < MAGIC.length || reader.text(decoder, MAGIC.length) !== MAGIC) {
      throw new Error('the data of this page is of a version that the page does not know');
    }
    for (let left = reader.number(); left > 0; left--) {
      const name = reader.text(decoder, reader.number());
      const kind = reader.number();
      const rows = reader.number();
      const content = reader.part(reader.number());
      if (rows > MOST_ROWS || (kind !== Kind.Sparse && rows > content.left())) throw damaged();
      this.columns.set(name, {kind, rows, reader: () => content.again()});
    }
  }

  // Empty if there is no such column. Each is decoded once.
  numbers(name: string): Float64Array {
    let known = this.numberCache.get(name);
    if (known === undefined) {
      const column = this.columns.get(name);
      known = column === undefined ? new Float64Array(0) : numbersOf(column);
      this.numberCache.set(name, known);
    }
    return known;
  }

  // As numbers(), of indices: all must be below `limit`.
  indices(name: string, limit: number): Int32Array {
    const numbers = this.numbers(name);
    const into = new Int32Array(numbers.length);
    for (let i = 0; i < into.length; i++) {
      if (numbers[i]! < 0 || numbers[i]! >= limit) throw damaged();
      into[i] = numbers[i]!;
    }
    return into;
  }

  // Visible text: safe to show, see visible_text.ts.
  texts(name: string): readonly string[] {
    let known = this.textCache.get(name);
    if (known === undefined) {
      known = this.readTexts(name);
      this.textCache.set(name, known);
    }
    return known;
  }

  has(name: string): boolean {
    return this.columns.has(name);
  }

  private readTexts(name: string): readonly string[] {
    const column = this.columns.get(name);
    if (column === undefined) return [];
    if (column.kind !== Kind.Texts) throw damaged();
    const reader = column.reader();
    const decoder = new TextDecoder('utf-8');
    const lengths = new Float64Array(column.rows);
    for (let i = 0; i < lengths.length; i++) lengths[i] = reader.number();
    return Array.from(lengths, (length) => visibleText(reader.text(decoder, length)));
  }
}
