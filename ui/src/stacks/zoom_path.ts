// Where a zoom is, as text for the page's address: four characters for each frame of the path, made of its name, so
// that a link holds when the recording is read anew and names have other numbers.
import type {Profile} from '../data/profile';
import {keyOf, nameOfKey, NO_FRAME} from '../model/frame_types';
import {pathOf, type Tree} from '../model/tree';

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const MOST_FRAMES = 400; // addresses must not grow without end: a longer path is known to this page only
const WIDTH = 4;

function hashOf(name: string, family: number): string {
  let hash = 0x811c9dc5 ^ family;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash ^= hash >>> 13;
  return [18, 12, 6, 0].map((shift) => DIGITS[(hash >>> shift) & 63]!).join('');
}

const hashOfKey = (profile: Profile, key: number): string => hashOf(profile.names[nameOfKey(key)]!, key & 15);

const longPaths = new Map<string, readonly number[]>();

export function zoomText(profile: Profile, tree: Tree, node: number): string {
  const path = pathOf(tree, node);
  const text = path.slice(0, MOST_FRAMES).map((key) => hashOfKey(profile, key)).join('');
  if (path.length <= MOST_FRAMES) return text;
  const long = `${text}~${path.length}.${node}`;
  longPaths.set(long, path);
  return long;
}

// All frames and threads of a profile by their text; made once, when a link needs it.
const keysByText = new WeakMap<Profile, Map<string, number>>();

function textsOf(profile: Profile): Map<string, number> {
  let known = keysByText.get(profile);
  if (known !== undefined) return known;
  known = new Map();
  const {nodes} = profile;
  const isKnown = new Uint8Array(profile.names.length * 16);
  const add = (key: number): void => {
    if (isKnown[key] === 1) return;
    isKnown[key] = 1;
    known!.set(hashOfKey(profile, key), key);
  };
  for (const {name} of profile.threads) add(keyOf(name, NO_FRAME));
  for (let i = 0; i < nodes.count; i++) add(keyOf(nodes.name[i]!, nodes.type[i]!));
  keysByText.set(profile, known);
  return known;
}

// The keys of the path. They are looked up among all frames, not along the path: a reversed tree is built only as far as
// it is seen, along the very path that is asked for here.
export function keysOfZoom(profile: Profile, text: string): readonly number[] {
  const known = longPaths.get(text);
  if (known !== undefined) return known;
  const path: number[] = [];
  for (let at = 0; at + WIDTH <= text.length && text[at] !== '~'; at += WIDTH) {
    const key = textsOf(profile).get(text.slice(at, at + WIDTH));
    if (key === undefined) break;
    path.push(key);
  }
  return path;
}
