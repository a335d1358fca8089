// Colours of what threads did. Running is green, blocked is red; waiting is cool and pale: most of it is harmless. Kinds
// of one drawing differ in lightness as well, so that they can be told apart without seeing colours.

export interface ChartColors {
  readonly background: string;
  readonly raised: string;
  readonly text: string;
  readonly muted: string;
  readonly line: string;
  readonly accent: string;
  readonly selection: string; // of a range
  readonly veil: string; // over what is not in the range
  readonly running: string;
  readonly blocked: string;
  readonly handOff: string;
  readonly tick: string; // a sample
  readonly waiting: Readonly<Record<string, string>>;
  readonly otherWaits: readonly string[];
  readonly kinds: Readonly<Record<string, string>>; // of threads
  readonly heat: readonly string[]; // from little to much
  readonly alloc: string;
  readonly pause: string;
  readonly collection: string;
  readonly safepoint: string;
}

export const LIGHT_CHART: ChartColors = {
  background: '#ffffff', raised: '#f6f7f9', text: '#16181d', muted: '#5a606b', line: '#d9dce2', accent: '#14509c',
  selection: 'rgba(20, 80, 156, 0.12)', veil: 'rgba(246, 247, 249, 0.72)',
  running: '#2f9e5f', blocked: '#cf3a30', handOff: '#e8968f', tick: '#0c4526',
  waiting: {parked: '#c3cde0', waiting: '#a7b6d3', sleeping: '#dde2ea', socket: '#8fc3cf', selector: '#b5dce3', file: '#d8c58f',
            monitor: '#e9a59f', native: '#d5cde0', vm: '#e2d5c0'},
  otherWaits: ['#cfc3dd', '#bccfb5', '#dcc3cf', '#c9c9c9'],
  kinds: {app: '#3a7fc4', jit: '#8fb8e0', gc: '#d9822b', vm: '#a1629f', other: '#9aa1ac', tarsier: '#c9ced6', processes: '#e3e6ea', stolen: '#cf3a30'},
  heat: ['#f6f7f9', '#fdeec0', '#fbcf7a', '#f39c4c', '#dd5a36', '#a5212f', '#5c0f2e'],
  alloc: '#7a5ea8', pause: '#a5212f', collection: '#e2b07a', safepoint: '#a1629f',
};

export const DARK_CHART: ChartColors = {
  background: '#17191e', raised: '#1f2228', text: '#eceef2', muted: '#a3aab6', line: '#363a43', accent: '#8fc1ff',
  selection: 'rgba(143, 193, 255, 0.16)', veil: 'rgba(23, 25, 30, 0.68)',
  running: '#3fb872', blocked: '#ef5a4c', handOff: '#8f3a35', tick: '#d6ffe6',
  waiting: {parked: '#3b465c', waiting: '#4c5b7a', sleeping: '#2d333e', socket: '#2f6a78', selector: '#28505a', file: '#6d5f2f',
            monitor: '#7c3b37', native: '#4d4360', vm: '#5c4f3a'},
  otherWaits: ['#5a4b6e', '#48603f', '#6b4356', '#4a4a4a'],
  kinds: {app: '#4c93dc', jit: '#2f5e8f', gc: '#e08f3c', vm: '#b273b0', other: '#6b727e', tarsier: '#474c56', processes: '#2b2f37', stolen: '#ef5a4c'},
  heat: ['#1f2228', '#3a2b4f', '#6b2d6b', '#a93a63', '#de5f4a', '#f89c3e', '#fce57e'],
  alloc: '#a98ddb', pause: '#ff7a6b', collection: '#7a5a30', safepoint: '#b273b0',
};

export const chartColors = (dark: boolean): ChartColors => (dark ? DARK_CHART : LIGHT_CHART);

export function waitColor(colors: ChartColors, kinds: readonly string[], kind: number): string {
  const name = kinds[kind] ?? '';
  return Object.hasOwn(colors.waiting, name) ? colors.waiting[name]! : colors.otherWaits[kind % colors.otherWaits.length]!;
}

const channel = (text: string, at: number): number => parseInt(text.slice(at, at + 2), 16);

// Between the colours of the scale; 0..1.
export function heatColor(scale: readonly string[], value: number): string {
  const place = Math.min(Math.max(value, 0), 1) * (scale.length - 1);
  const low = Math.min(Math.floor(place), scale.length - 2);
  const part = place - low;
  const mix = [1, 3, 5].map((at) => Math.round(channel(scale[low]!, at) * (1 - part) + channel(scale[low + 1]!, at) * part));
  return `rgb(${mix.join(', ')})`;
}
