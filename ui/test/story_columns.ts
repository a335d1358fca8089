// Writes parts of a page for tests of the views, as docs/page.md describes them.

export type Column = readonly number[] | readonly string[] | {readonly differences: readonly number[]}
  | {readonly sparse: readonly number[]} | {readonly texts: readonly string[]};

function varint(value: number, into: number[]): void {
  for (; value >= 128; value = Math.floor(value / 128)) into.push((value % 128) | 128);
  into.push(value);
}

function contentOf(column: Column): {kind: number; rows: number; bytes: number[]} {
  const bytes: number[] = [];
  if ('differences' in column) {
    let last = 0;
    for (const value of column.differences) {
      const step = value - last;
      varint(step >= 0 ? step * 2 : -step * 2 - 1, bytes);
      last = value;
    }
    return {kind: 1, rows: column.differences.length, bytes};
  }
  if ('sparse' in column) {
    let last = -1;
    column.sparse.forEach((value, i) => {
      if (value === 0) return;
      varint(i - last, bytes);
      varint(value, bytes);
      last = i;
    });
    return {kind: 3, rows: column.sparse.length, bytes};
  }
  if ('texts' in column || typeof column[0] === 'string') {
    const plain = 'texts' in column ? column.texts : column as readonly string[];
    const texts = plain.map((text) => new TextEncoder().encode(text));
    for (const text of texts) varint(text.length, bytes);
    for (const text of texts) for (const byte of text) bytes.push(byte);
    return {kind: 2, rows: texts.length, bytes};
  }
  for (const value of column as readonly number[]) varint(value, bytes);
  return {kind: 0, rows: column.length, bytes};
}

export function encodeColumns(columns: Readonly<Record<string, Column>>): Uint8Array {
  const out: number[] = [...new TextEncoder().encode('tarsier-columns-1\n')];
  varint(Object.keys(columns).length, out);
  for (const [name, column] of Object.entries(columns)) {
    const encoded = new TextEncoder().encode(name);
    const {kind, rows, bytes} = contentOf(column);
    varint(encoded.length, out);
    for (const byte of encoded) out.push(byte);
    for (const value of [kind, rows, bytes.length]) varint(value, out);
    for (const byte of bytes) out.push(byte);
  }
  return Uint8Array.from(out);
}
