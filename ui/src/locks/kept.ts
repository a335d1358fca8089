// What the selected time, threads and search leave of the contentions and of their pieces.
import {clippedLength, isInCut, isLock, type Contentions, type Cut} from './contentions';

export interface Kept {
  readonly row: Int32Array; // contentions
  readonly ns: Float64Array; // of each
  readonly firstPiece: Int32Array; // of each, one more than there are; pieces are numbered by themselves
  readonly pieceOwner: Int32Array; // number of the owner
  readonly pieceNs: Float64Array;
  readonly pieceLongest: Float64Array | null; // of rows that stand for several
  readonly pieceOf: Int32Array | null; // in the data; null: the same number
  readonly byGroup: Float64Array; // ns of all groups, whether kept or not
}

const known = new WeakMap<Cut, {data: Contentions; locks?: Kept; all?: Kept}>();

// Of locks only, unless `allGroups`: then of everything that threads were parked for.
export function keptOf(data: Contentions, cut: Cut, allGroups: boolean): Kept {
  let entry = known.get(cut);
  if (entry === undefined || entry.data !== data) known.set(cut, (entry = {data}));
  return allGroups ? (entry.all ??= makeKept(data, cut, true)) : (entry.locks ??= makeKept(data, cut, false));
}

function makeKept(data: Contentions, cut: Cut, allGroups: boolean): Kept {
  const byGroup = new Float64Array(4);
  const row = new Int32Array(data.count);
  const ns = new Float64Array(data.count);
  let kept = 0;
  for (let i = 0; i < data.count; i++) {
    if (!isInCut(data, cut, i)) continue;
    let length = data.length[i]!;
    if (!cut.whole) {
      const begin = data.begin[i]!;
      const span = data.span[i]!;
      const left = clippedLength(cut, begin, begin + span);
      if (left < 0) continue;
      length = data.more[i]! > 0 && span > 0 ? Math.round(length * (left / span)) : left;
    }
    byGroup[data.group[i]!]! += length;
    if (!allGroups && !isLock(data.group[i]!)) continue;
    row[kept] = i;
    ns[kept++] = length;
  }
  const rows = {row: row.subarray(0, kept), ns: ns.subarray(0, kept), byGroup};
  if (cut.whole && kept === data.count) {
    return {...rows, firstPiece: data.firstPiece, pieceOwner: data.owners.id, pieceNs: data.pieceLength, pieceLongest: data.pieceLongest, pieceOf: null};
  }
  return {...rows, ...keptPieces(data, cut, rows.row, rows.ns)};
}

function keptPieces(data: Contentions, cut: Cut, row: Int32Array, ns: Float64Array): Omit<Kept, 'row' | 'ns' | 'byGroup'> {
  let most = 0;
  for (const i of row) most += data.firstPiece[i + 1]! - data.firstPiece[i]!;
  const firstPiece = new Int32Array(row.length + 1);
  const pieceOwner = new Int32Array(most);
  const pieceNs = new Float64Array(most);
  const pieceOf = new Int32Array(most);
  const pieceLongest = data.pieceLongest === null ? null : new Float64Array(most);
  let kept = 0;
  for (let k = 0; k < row.length; k++) {
    const i = row[k]!;
    let at = data.begin[i]!;
    for (let p = data.firstPiece[i]!; p < data.firstPiece[i + 1]!; p++) {
      let length = data.pieceLength[p]!;
      if (!cut.whole) {
        if (data.more[i]! > 0) {
          length = Math.round(length * (ns[k]! / Math.max(data.length[i]!, 1)));
        } else {
          const end = at + length;
          length = clippedLength(cut, at, end);
          at = end;
          if (length < 0) continue;
        }
      }
      pieceOwner[kept] = data.owners.id[p]!;
      pieceOf[kept] = p;
      if (pieceLongest !== null) pieceLongest[kept] = Math.min(data.pieceLongest![p]!, length);
      pieceNs[kept++] = length;
    }
    firstPiece[k + 1] = kept;
  }
  return {firstPiece, pieceOwner: pieceOwner.subarray(0, kept), pieceNs: pieceNs.subarray(0, kept),
          pieceLongest: pieceLongest?.subarray(0, kept) ?? null, pieceOf: pieceOf.subarray(0, kept)};
}
