// A heat map of time: columns are seconds (or more, of long recordings), and within a column time runs upwards.
import type {Head} from '../data/head';

export interface HeatMap {
  readonly columns: number;
  readonly rows: number;
  readonly columnMoments: number;
  readonly rowMoments: number;
  readonly values: Float64Array; // by column, then by row from the bottom
  readonly most: number;
}

const MOST_COLUMNS = 240;
const MOST_ROWS = 50;
const COLUMN_NS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600].map((seconds) => seconds * 1e9);

// Null: too few moments to see anything.
export function heatMap(head: Head, values: Float64Array): HeatMap | null {
  const {moments, moment_ns: momentNs} = head;
  if (moments < 4 || momentNs <= 0 || values.length === 0) return null;
  const span = moments * momentNs;
  // Short recordings have columns of less than a second.
  const columnNs = span < 8e9 ? 1e8 : COLUMN_NS.find((ns) => span / ns <= MOST_COLUMNS) ?? 3600e9;
  const columnMoments = Math.max(1, Math.round(columnNs / momentNs));
  const rowMoments = Math.max(1, Math.ceil(columnMoments / MOST_ROWS));
  const rows = Math.ceil(columnMoments / rowMoments);
  const columns = Math.ceil(moments / columnMoments);
  const sums = new Float64Array(columns * rows);
  for (let m = 0; m < Math.min(values.length, moments); m++) {
    const column = Math.floor(m / columnMoments);
    sums[column * rows + Math.floor((m - column * columnMoments) / rowMoments)]! += values[m]!;
  }
  let most = 0;
  for (const sum of sums) most = Math.max(most, sum);
  return {columns, rows, columnMoments, rowMoments, values: sums, most};
}

// The moments of a cell: [first, end).
export function cellMoments(map: HeatMap, moments: number, column: number, row: number): {first: number; end: number} {
  const begin = column * map.columnMoments;
  const first = Math.min(begin + row * map.rowMoments, moments);
  return {first, end: Math.min(first + map.rowMoments, begin + map.columnMoments, moments)};
}
