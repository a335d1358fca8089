// Where parts come from: out of this page, or from the server that sent it.
import {Columns} from './columns';
import {decodeHead} from './head';
import type {Recording} from './recording';
import {decodeThreads} from './threads';

// The bytes of a part; null if there is none of that name.
export type Fetcher = (name: string) => Promise<Uint8Array | null>;

function bytesOfBase64(text: string): Uint8Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

async function unzipped(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(new DecompressionStream('gzip'));
  try {
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    throw new Error('the data of this page is damaged');
  }
}

export const embeddedParts: Fetcher = async (name) => {
  const element = document.getElementById(`tarsier-part-${name}`);
  if (element === null) return null;
  let bytes: Uint8Array;
  try {
    bytes = bytesOfBase64(element.textContent ?? '');
  } catch {
    throw new Error('the data of this page is damaged');
  }
  element.remove(); // the text is no longer needed and may be large
  return unzipped(bytes);
};

// The server has newer parts by now: rows of these would be numbers in others.
export class Renewed extends Error {}

// The parts of number `of`; null: as they are.
export const servedParts = (of: number | null): Fetcher => async (name) => {
  const answer = await fetch(`api/parts/${encodeURIComponent(name)}${of === null ? '' : `?of=${of}`}`, {cache: 'no-store'});
  if (answer.status === 404) return null;
  if (answer.status === 410) throw new Renewed('the parts have been renewed');
  if (!answer.ok) throw new Error(`the server answered ${answer.status} when asked for ${name}`);
  return new Uint8Array(await answer.arrayBuffer());
};

// A view that asks for a part of a recording that is renewed just now waits: it gets the new recording in a moment.
const forEver = (error: unknown): Promise<never> => {
  if (error instanceof Renewed) return new Promise(() => {});
  throw error;
};

export async function readRecording(fetcher: Fetcher): Promise<Recording> {
  const headBytes = await fetcher('head');
  if (headBytes === null) throw new Error('this page carries no recording; tarsier export --to html makes one that does');
  const head = decodeHead(headBytes);
  const threadBytes = await fetcher('threads');
  const threads = threadBytes === null ? NO_COLUMNS : new Columns(threadBytes);
  const kept = new Map<string, Promise<Columns | null>>([['threads', Promise.resolve(threadBytes === null ? null : threads)]]);
  const part = (name: string): Promise<Columns | null> => {
    let known = kept.get(name);
    if (known === undefined) {
      known = fetcher(name).then((bytes) => (bytes === null ? null : new Columns(bytes)), forEver);
      kept.set(name, known);
    }
    return known;
  };
  return {head, threads: decodeThreads(threads), part};
}

const NO_COLUMNS = new Columns(Uint8Array.of(...new TextEncoder().encode('tarsier-columns-1\n'), 0));
