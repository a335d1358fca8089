// The views of stacks: one filter bar, one tree, several ways to look at it.
import type {ComponentChildren, FunctionComponent} from 'preact';
import {useRef} from 'preact/hooks';
import {DARK, LIGHT, type Palette} from '../flame/palette';
import {clipped} from '../data/visible_text';
import type {ViewProps} from '../shell/state';
import {useKeys} from '../shell/use_keys';
import {profileHeadOf} from '../shell/use_profile';
import {CallersView} from './callers_view';
import {FilterBar} from './filter_bar';
import {FlameView} from './flame_view';
import {MethodsView} from './methods_view';
import {RingView} from './ring_view';
import {TreeView} from './tree_view';
import {EXCLUDE, INCLUDE, ONLY, useStacks, type Stacks} from './use_stacks';

export interface StackViewProps extends ViewProps {
  readonly stacks: Stacks;
  readonly palette: Palette;
}

const VIEWS: Readonly<Record<string, FunctionComponent<StackViewProps>>> = {
  flame: FlameView, tree: TreeView, methods: MethodsView, callers: CallersView, ring: RingView,
};

export const isStackView = (view: string): boolean => view in VIEWS;

export function StackViews(props: ViewProps) {
  const {recording, state, change, dark} = props;
  const {stacks, error, isMissing} = useStacks(props);
  const searchField = useRef<HTMLInputElement>(null);
  useKeys({
    '/': () => {
      searchField.current?.focus();
      searchField.current?.select();
    },
    w: () => {
      const {profiles} = recording.head;
      const now = profiles.findIndex(({name}) => name === profileHeadOf(recording.head, state.weight)?.name);
      if (profiles.length > 1) change({weight: profiles[(now + 1) % profiles.length]!.name}, true);
    },
  });
  const View = VIEWS[state.view]!;
  const content = (): ComponentChildren => {
    if (error !== '') return <p class="empty" role="alert">This profile cannot be shown: {clipped(error, 300)}.</p>;
    if (isMissing) return <NoProfile {...props} />;
    if (stacks === null) return <p class="empty" role="status">Reading the profile...</p>;
    if (stacks.calls.count <= 1 || stacks.calls.total[0] === 0) return <NothingLeft {...props} stacks={stacks} />;
    return <View {...props} stacks={stacks} palette={dark ? DARK : LIGHT} />;
  };
  return (
    <>
      <FilterBar {...props} stacks={stacks} searchField={searchField} change={change} />
      {content()}
    </>
  );
}

function NoProfile({recording}: ViewProps) {
  const {head} = recording;
  const engines = head.engines.map(({name}) => clipped(name, 40)).join(', ');
  return (
    <div class="empty" role="status">
      <p>No samples in this recording.</p>
      <p>
        {engines === '' ? 'No engine of tarsier is named in it either.' : `It was recorded with: ${engines}.`}
        {' '}Stacks come with <code>tarsier record --cpu</code>, <code>--wall</code>, <code>--alloc</code>, <code>--waits</code> or <code>--lock</code>.
      </p>
    </div>
  );
}

function NothingLeft({state, change, stacks}: ViewProps & {stacks: Stacks}) {
  const hasFilter = state.range !== null || state.thread !== '' ||
    [INCLUDE, EXCLUDE, ONLY].some((name) => (state.more[name] ?? '') !== '');
  if (!hasFilter) {
    return (
      <div class="empty" role="status">
        <p>No samples in this recording.</p>
        <p>The profile {stacks.head.what && `of ${stacks.head.what} `}is there, but no stack was sampled.</p>
      </div>
    );
  }
  return (
    <div class="empty" role="status">
      <p>No samples are left by this choice of time, threads and stacks.</p>
      <p>
        <button type="button" onClick={() => change({range: null, thread: '',
          more: {...state.more, [INCLUDE]: '', [EXCLUDE]: '', [ONLY]: ''}}, true)}>Show everything</button>
      </p>
    </div>
  );
}
