// The page: header, views, the strip of time, and the view that the address names.
import {useEffect, useState} from 'preact/hooks';
import type {FunctionComponent} from 'preact';
import type {Progress} from '../data/open';
import type {Recording} from '../data/recording';
import {clipped} from '../data/visible_text';
import {Lanes} from '../lanes/lanes';
import {Locks} from '../locks/locks';
import {Overview} from '../overview/overview';
import {Quality} from '../quality/quality';
import {isStackView, StackViews} from '../stacks/stack_views';
import {Guard} from './guard';
import {HelpDialog} from './help_dialog';
import {PageHeader} from './page_header';
import {linkTo, usePageState, VIEWS} from './page_state';
import type {ViewProps} from './state';
import {useTheme} from './theme';
import {PageTimeStrip} from './time_strip';
import {useKeys} from './use_keys';

const OTHERS: Readonly<Record<string, FunctionComponent<ViewProps>>> = {
  overview: Overview, locks: Locks, threads: Lanes, quality: Quality,
};

// A served recording may still be on its way: the page is there from the first moment on.
export function App({recording, reading, failure}: Progress) {
  if (recording === null) {
    return failure === '' ? <Waiting done={reading} /> : <p role="alert">The recording cannot be shown: {clipped(failure, 600)}.</p>;
  }
  return <Page recording={recording} reading={reading} failure={failure} />;
}

function Waiting({done}: {done: number | null}) {
  return (
    <div class="waiting" role="status">
      <p>{done === null ? 'Opening the recording' : `Reading the recording, ${Math.floor(100 * done)} %`}</p>
      {done !== null && <progress aria-label="Reading the recording" value={done} max={1} />}
    </div>
  );
}

function ReadingLine({reading, failure}: {reading: number | null; failure: string}) {
  if (failure !== '') {
    return <p class="warning" role="alert">The rest of the recording cannot be read: {clipped(failure, 400)}. Shown is what was read before.</p>;
  }
  if (reading === null) return null;
  return (
    <div class="reading" role="status">
      <progress aria-label="Reading the recording" value={reading} max={1} />
      <span>Reading, {Math.floor(100 * reading)} %. Shown is what has been read so far.</span>
    </div>
  );
}

function Page({recording, reading, failure}: {recording: Recording; reading: number | null; failure: string}) {
  const {head} = recording;
  const {state, change} = usePageState();
  const {theme, toggle} = useTheme();
  const [helpOpen, setHelpOpen] = useState(false);
  useEffect(() => {
    if (head.title !== '') document.title = `${clipped(head.title, 120)} \u00b7 tarsier`;
  }, [head.title]);
  const digits = Object.fromEntries(VIEWS.map(({id}, i) => [String(i + 1), () => change({view: id}, true)]));
  useKeys({d: toggle, '?': () => setHelpOpen(true), ...digits});
  const props: ViewProps = {recording, state, change, dark: theme === 'dark'};
  const Other = OTHERS[state.view];
  return (
    <>
      <PageHeader head={head} dark={props.dark} onTheme={toggle} onHelp={() => setHelpOpen(true)} />
      <ReadingLine reading={reading} failure={failure} />
      <nav class="views" aria-label="Views">
        {VIEWS.map(({id, label}, i) => (
          <a key={id} href={linkTo(state, {view: id})} aria-current={state.view === id ? 'page' : undefined}
            aria-keyshortcuts={String(i + 1)} title={`${label} (${i + 1})`}>{label}</a>
        ))}
      </nav>
      <main>
        <PageTimeStrip {...props} />
        <Guard key={state.view}>
          {isStackView(state.view) ? <StackViews {...props} /> : Other !== undefined ? <Other {...props} /> : null}
        </Guard>
      </main>
      <HelpDialog open={helpOpen} onClose={() => setHelpOpen(false)} />
    </>
  );
}
