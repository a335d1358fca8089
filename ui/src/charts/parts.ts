// Parts of the recording as views use them: asked for when the view is first drawn, made into something once.
import {useEffect, useState} from 'preact/hooks';
import type {Columns} from '../data/columns';
import type {Recording} from '../data/recording';

export type Part = {readonly state: 'loading'} | {readonly state: 'failed'; readonly message: string}
  | {readonly state: 'ready'; readonly columns: Columns | null};

const LOADING: Part = {state: 'loading'};
const MISSING: Part = {state: 'ready', columns: null};

export function usePart(recording: Recording, name: string): Part {
  const [known, setKnown] = useState<{recording: Recording; name: string; part: Part} | null>(null);
  const isThere = name !== '' && recording.head.parts.includes(name);
  useEffect(() => {
    if (!isThere) return undefined;
    let wanted = true;
    const say = (part: Part): void => {
      if (wanted) setKnown({recording, name, part});
    };
    recording.part(name).then(
      (columns) => say({state: 'ready', columns}),
      (error: unknown) => say({state: 'failed', message: error instanceof Error ? error.message : String(error)}));
    return () => {
      wanted = false;
    };
  }, [recording, name, isThere]);
  if (!isThere) return MISSING;
  return known !== null && known.recording === recording && known.name === name ? known.part : LOADING;
}

// What is made of a part lives as long as the part.
export function oncePer<Made>(make: (columns: Columns, recording: Recording) => Made):
    (columns: Columns, recording: Recording) => Made {
  const made = new WeakMap<Columns, Made>();
  return (columns, recording) => {
    let known = made.get(columns);
    if (known === undefined) made.set(columns, (known = make(columns, recording)));
    return known;
  };
}
