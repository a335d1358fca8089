// Owners of locks are few, pieces of contentions are many: each piece has the number of its owner.

export interface Owners {
  readonly id: Int32Array; // by piece
  readonly count: number;
  readonly kind: Uint8Array; // by owner, as all below
  readonly thread: Int32Array; // 1 + row in threads
  readonly chain: Int32Array;
  readonly method: Int32Array; // 1 + label
}

const DENSE = 1 << 22;

export function numberOwners(kind: Int32Array, thread: Int32Array, chain: Int32Array, method: Int32Array, threads: number, chains: number): Owners {
  const id = new Int32Array(kind.length);
  const kinds: number[] = [];
  const owners: number[] = [];
  const chainsOf: number[] = [];
  const methods: number[] = [];
  const add = (i: number): number => {
    kinds.push(kind[i]!);
    owners.push(thread[i]!);
    chainsOf.push(chain[i]!);
    methods.push(method[i]!);
    return kinds.length - 1;
  };
  const wide = (threads + 1) * 4;
  const dense = wide * chains <= DENSE ? new Int32Array(wide * chains) : null; // 1 + number
  const rest = new Map<string, number>();
  for (let i = 0; i < id.length; i++) {
    const place = chain[i]! * wide + thread[i]! * 4 + kind[i]!;
    if (dense !== null) {
      const known = dense[place]!;
      if (known > 0 && methods[known - 1] === method[i]) {
        id[i] = known - 1;
        continue;
      }
      if (known === 0) {
        id[i] = add(i);
        dense[place] = id[i]! + 1;
        continue;
      }
    }
    const name = `${place} ${method[i]}`;
    let known = rest.get(name);
    if (known === undefined) rest.set(name, (known = add(i)));
    id[i] = known;
  }
  return {id, count: kinds.length, kind: Uint8Array.from(kinds), thread: Int32Array.from(owners), chain: Int32Array.from(chainsOf), method: Int32Array.from(methods)};
}
