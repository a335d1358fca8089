// The profile that weights the stacks: decoded once, kept while the recording is shown.
import {useEffect, useState} from 'preact/hooks';
import {decodeProfile} from '../data/decode';
import type {Head, ProfileHead} from '../data/head';
import type {Profile} from '../data/profile';
import type {Recording} from '../data/recording';

export interface Loaded {
  readonly head: ProfileHead;
  readonly profile: Profile;
}

const decoded = new WeakMap<Recording, Map<string, Promise<Loaded | null>>>();

export const profileHeadOf = (head: Head, weight: string): ProfileHead | undefined =>
  head.profiles.find(({name}) => name === weight) ?? head.profiles.find(({name}) => name === head.default_profile) ??
  head.profiles[0];

function load(recording: Recording, head: ProfileHead): Promise<Loaded | null> {
  let ofRecording = decoded.get(recording);
  if (ofRecording === undefined) decoded.set(recording, (ofRecording = new Map()));
  let known = ofRecording.get(head.name);
  if (known === undefined) {
    known = recording.part(`profile-${head.name}`).then((columns) =>
      (columns === null ? null : {head, profile: decodeProfile(columns, recording.threads)}));
    ofRecording.set(head.name, known);
  }
  return known;
}

export interface ProfileState {
  readonly loaded: Loaded | null; // while another one is on its way: the one before
  readonly error: string;
  readonly isMissing: boolean; // there is no such profile in the recording
}

export function useProfile(recording: Recording, weight: string): ProfileState {
  const [state, setState] = useState<ProfileState>({loaded: null, error: '', isMissing: false});
  const head = profileHeadOf(recording.head, weight);
  useEffect(() => {
    let isWanted = true;
    if (head === undefined) {
      setState({loaded: null, error: '', isMissing: true});
      return undefined;
    }
    load(recording, head).then(
      (loaded) => isWanted && setState({loaded, error: '', isMissing: loaded === null}),
      (error: unknown) => isWanted && setState({loaded: null, error: error instanceof Error ? error.message : String(error), isMissing: false}));
    return () => {
      isWanted = false;
    };
  }, [recording, head?.name]);
  return state;
}
