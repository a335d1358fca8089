// Opens the recording that this page shows, and says how far that is. A served recording may still be read by the
// server: then what has been read so far is shown, and renewed when there is more.
import type {Recording} from './recording';
import {embeddedParts, readRecording, servedParts} from './source';

export interface Progress {
  readonly recording: Recording | null; // the newest that there is
  readonly reading: number | null; // 0..1 while the server reads, null when it is done
  readonly failure: string; // empty: none
}

interface Status {
  readonly state: string;
  readonly done?: number;
  readonly parts?: number;
  readonly message?: string;
}

const POLL_MS = 250;
const PATIENCE = 8; // polls that may fail one after the other

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function openServed(tell: (progress: Progress) => void): Promise<void> {
  let recording: Recording | null = null;
  let shown = 0; // the number of the parts that are shown
  let last: number | null = null;
  let missed = 0;
  for (;;) {
    let status: Status;
    try {
      const answer = await fetch('api/status', {cache: 'no-store'});
      if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
      status = (await answer.json()) as Status;
      missed = 0;
    } catch (error) {
      if (++missed > PATIENCE) throw new Error(`the server does not answer any more (${textOf(error)}); is tarsier view still running?`);
      await pause(POLL_MS);
      continue;
    }
    if (status.state === 'failed') throw new Error(status.message ?? 'the server could not read it');
    if (status.state === 'ready') {
      last = status.parts ?? null;
      break;
    }
    const renewed = status.parts ?? 0;
    if (renewed > shown) {
      try {
        recording = await readRecording(servedParts(renewed));
        shown = renewed;
      } catch {
        // Renewed while we asked: the next poll tries again.
      }
    }
    tell({recording, reading: status.done ?? 0, failure: ''});
    await pause(POLL_MS);
  }
  tell({recording: await readRecording(servedParts(last)), reading: null, failure: ''});
}

export function openRecording(tell: (progress: Progress) => void): void {
  let last: Progress = {recording: null, reading: null, failure: ''};
  const remember = (progress: Progress): void => tell((last = progress));
  const opened = document.getElementById('tarsier-server') !== null
    ? openServed(remember)
    : readRecording(embeddedParts).then((recording) => remember({recording, reading: null, failure: ''}));
  opened.catch((error: unknown) => tell({...last, reading: null, failure: textOf(error)}));
}
