// The kinds of frames. The order is the page's own; files name them by word.

export interface FrameType {
  readonly name: string;
  readonly meaning: string;
  readonly java: boolean;
}

export const FRAME_TYPES: readonly FrameType[] = [
  {name: 'java', meaning: 'Java, how it ran is not known', java: true},
  {name: 'interpreted', meaning: 'Java, interpreted', java: true},
  {name: 'c1', meaning: 'Java, compiled by C1', java: true},
  {name: 'c2', meaning: 'Java, compiled by C2', java: true},
  {name: 'inlined', meaning: 'Java, inlined into its caller', java: true},
  {name: 'native', meaning: 'native library code', java: false},
  {name: 'stub', meaning: 'code stubs of the JVM', java: false},
  {name: 'vm', meaning: 'the JVM itself', java: false},
  {name: 'kernel', meaning: 'the operating system', java: false},
  {name: 'class', meaning: 'no code: what was allocated, or locked', java: false},
  {name: 'marker', meaning: 'no code: unsampled threads, failed or cut stacks', java: false},
];

export const JAVA_TYPES = FRAME_TYPES.filter((type) => type.java).length;
export const CLASS = FRAME_TYPES.findIndex((type) => type.name === 'class');
export const MARKER = FRAME_TYPES.findIndex((type) => type.name === 'marker');
// Threads and the root are nodes, but no frames.
export const NO_FRAME = FRAME_TYPES.length;

export function frameTypeOf(word: string): number {
  const found = FRAME_TYPES.findIndex((type) => type.name === word);
  return found < 0 ? 0 : found;
}

// One method that ran interpreted first and compiled later is one node; the same name as a Java and as a native
// function is two. A node's key is its name with this.
export function familyOf(type: number): number {
  return type < JAVA_TYPES ? 0 : type;
}

export const keyOf = (name: number, type: number): number => name * 16 + familyOf(type);
export const nameOfKey = (key: number): number => key >>> 4;
