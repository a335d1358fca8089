// Percentiles of durations, as the command counts them (src/analysis/duration_spread.cpp): a few exactly, more of them in
// classes that are 3 % wide, so that both say the same.

const FEW = 16;
const BITS = 5;
const OWN = 1 << (BITS + 1); // shorter ones are their own class

function classOf(ns: number): number {
  if (ns < OWN) return ns;
  // Bits beyond the sixth from the top are dropped.
  if (ns < 2 ** 31) {
    const shift = 31 - BITS - Math.clz32(ns);
    return (ns >> shift) + (shift << BITS);
  }
  const shift = 63 - BITS - Math.clz32(Math.floor(ns / 2 ** 32));
  const exact = ns < 2 ** 32 ? 31 - BITS : shift;
  return Math.floor(ns / 2 ** exact) + (exact << BITS);
}

function middleOf(index: number): number {
  if (index < OWN) return index;
  const shift = (index >> BITS) - 1;
  const begin = ((index & ((1 << BITS) - 1)) | (1 << BITS)) * 2 ** shift;
  return begin + Math.floor((2 ** shift - 1) / 2);
}

// Durations, each with the number of times that it is there.
export function percentiles(durations: Float64Array, times: Float64Array | null, quantiles: readonly number[]): number[] {
  let count = 0;
  let most = 0;
  for (let i = 0; i < durations.length; i++) {
    count += times === null ? 1 : times[i]!;
    most = Math.max(most, durations[i]!);
  }
  if (count === 0) return quantiles.map(() => 0);
  const rankOf = (quantile: number): number => Math.min(Math.max(1, Math.ceil(quantile * count)), count);
  if (count <= FEW) {
    const sorted: number[] = [];
    durations.forEach((ns, i) => {
      for (let n = times === null ? 1 : times[i]!; n > 0; n--) sorted.push(ns);
    });
    sorted.sort((a, b) => a - b);
    return quantiles.map((quantile) => sorted[rankOf(quantile) - 1]!);
  }
  const counts = new Float64Array(classOf(most) + 1);
  for (let i = 0; i < durations.length; i++) counts[classOf(durations[i]!)]! += times === null ? 1 : times[i]!;
  return quantiles.map((quantile) => {
    const rank = rankOf(quantile);
    let passed = 0;
    for (let i = 0; i < counts.length; i++) if ((passed += counts[i]!) >= rank) return Math.min(middleOf(i), most);
    return most;
  });
}
