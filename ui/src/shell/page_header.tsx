// What was recorded, in one line, and what is wrong with it.
import {clipped} from '../data/visible_text';
import {eventsOf, type Head} from '../data/head';
import {count, duration} from '../model/format';

interface Props {
  readonly head: Head;
  readonly dark: boolean;
  readonly onTheme: () => void;
  readonly onHelp: () => void;
}

export function PageHeader({head, dark, onTheme, onHelp}: Props) {
  const samples = head.profiles.map((profile) => profile.name !== 'owners' && profile.samples.count > 0 &&
    `${count(profile.samples.count)} ${profile.census === true ? eventsOf(profile) : `${clipped(profile.name, 20)} samples`}`);
  const words = [
    head.jvm && `JVM ${head.jvm}`,
    head.pid > 0 && `pid ${head.pid}`,
    head.duration_ns > 0 && duration(head.duration_ns),
    ...samples,
    head.against && `compared with ${head.against.file.replace(/^\/.*\//, '')}`,
  ].filter(Boolean) as string[];
  return (
    <header>
      <div class="title">
        <h1><bdi dir="ltr">{clipped(head.title || head.file || 'recording', 120)}</bdi></h1>
        <ul class="summary" title={words.map((word) => clipped(word, 200)).join(' \u00b7 ')}>{words.map((word, i) => <li key={i}><bdi dir="ltr">{clipped(word, 80)}</bdi></li>)}</ul>
        <span class="gap" />
        <button type="button" class="quiet" aria-pressed={dark} aria-keyshortcuts="d" title="Dark (d)" onClick={onTheme}>Dark</button>
        <button type="button" class="quiet" aria-label="Help" aria-keyshortcuts="?" title="Help (?)" onClick={onHelp}>?</button>
      </div>
      <Problems head={head} />
    </header>
  );
}

// One line, unless asked for: problems must be seen, but not in place of the recording.
function Problems({head}: {head: Head}) {
  if (!head.damaged && head.problems.length === 0) return null;
  const lead = head.damaged ? 'The recording is damaged; what was readable is shown.' : '';
  const first = head.problems[0];
  if (head.problems.length <= 1) {
    return <p class="warning" role="alert">{lead !== '' && <strong>{lead} </strong>}{first !== undefined && clipped(first, 400)}</p>;
  }
  return (
    <details class="warning" role="alert">
      <summary><strong>{lead || `${count(head.problems.length)} notes`}</strong> {clipped(first!, 160)}</summary>
      <ul>{head.problems.slice(0, 50).map((text, i) => <li key={i}>{clipped(text, 400)}</li>)}</ul>
    </details>
  );
}
