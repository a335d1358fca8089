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

export const servedParts: Fetcher = async (name) => {
  const answer = await fetch(`api/parts/${encodeURIComponent(name)}`, {cache: 'no-store'});
  if (answer.status === 404) return null;
  if (!answer.ok) throw new Error(`the server answered ${answer.status} when asked for ${name}`);
  return new Uint8Array(await answer.arrayBuffer());
};

export async function readRecording(fetcher: Fetcher): Promise<Recording> {
  const headBytes = await fetcher('head');
  if (headBytes === null) throw new Error('this page carries no recording; tarsier export --to html makes one that does');
  const head = decodeHead(headBytes);
  const kept = new Map<string, Promise<Columns | null>>();
  const part = (name: string): Promise<Columns | null> => {
    let known = kept.get(name);
    if (known === undefined) {
      known = fetcher(name).then((bytes) => (bytes === null ? null : new Columns(bytes)));
      kept.set(name, known);
    }
    return known;
  };
  const threads = await part('threads');
  return {head, threads: decodeThreads(threads ?? NO_COLUMNS), part};
}

const NO_COLUMNS = new Columns(Uint8Array.of(...new TextEncoder().encode('tarsier-columns-1\n'), 0));
