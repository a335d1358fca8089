// How far chance may have moved a share that was sampled: as src/analysis/confidence.cpp does it.
import type {CallTree} from './merge';

export interface Interval {
  readonly low: number;
  readonly high: number;
}

const Z = 1.959963984540054; // 97.5 % quantile of the normal distribution

export function wilson95(share: number, n: number): Interval {
  if (!(n > 0)) return {low: 0, high: 0};
  const p = Math.min(Math.max(share, 0), 1);
  const scale = 1 / (1 + (Z * Z) / n);
  const centre = (p + (Z * Z) / (2 * n)) * scale;
  const half = Z * Math.sqrt((p * (1 - p)) / n + (Z * Z) / (4 * n * n)) * scale;
  return {low: Math.min(Math.max(centre - half, 0), p), high: Math.max(Math.min(centre + half, 1), p)};
}

// Of a weight's share of the whole. Null: nothing of it was sampled, it is exact. Part of a weight may be measured:
// only the rest varies.
export function shareInterval(calls: CallTree, weight: number, samples: number): Interval | null {
  const whole = calls.total[0]!;
  if (!(samples > 0) || !(calls.sampled > 0) || !(whole > 0)) return null;
  const measured = Math.max(0, weight - calls.sampled);
  const {low, high} = wilson95((weight - measured) / calls.sampled, calls.effectiveSamples);
  return {low: (low * calls.sampled + measured) / whole, high: (high * calls.sampled + measured) / whole};
}
