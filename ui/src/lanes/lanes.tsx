// Threads over time, one lane each: running, blocked, waiting. A blocked time leads to the one who held the lock.
import {useMemo} from 'preact/hooks';
import {usePart} from '../charts/parts';
import {clipped} from '../data/visible_text';
import {contentionsOf, type Contentions} from '../locks/contentions';
import type {ViewProps} from '../shell/state';
import {useProfile} from '../shell/use_profile';
import {laneData} from './lane_data';
import {LanePanel} from './lane_panel';
import {waitsOf, type Waits} from './waits';

export function Lanes(props: ViewProps) {
  const {recording} = props;
  const hasCpu = recording.head.profiles.some(({name}) => name === 'cpu');
  const cpu = useProfile(recording, 'cpu');
  const locks = usePart(recording, 'locks');
  const waits = usePart(recording, 'waits');
  const isLoading = locks.state === 'loading' || waits.state === 'loading' || (hasCpu && cpu.loaded === null && cpu.error === '');
  const profile = hasCpu && cpu.loaded !== null ? cpu.loaded.profile : null;
  const made = useMemo(() => {
    if (isLoading) return null;
    // One part that is damaged does not take the others with it.
    const problems: string[] = [];
    const guarded = <T,>(what: string, make: () => T | null): T | null => {
      try {
        return make();
      } catch (error) {
        problems.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
        return null;
      }
    };
    const contentions = guarded<Contentions>('locks', () => (locks.state === 'ready' && locks.columns !== null ? contentionsOf(locks.columns, recording) : null));
    const waited = guarded<Waits>('waits', () => (waits.state === 'ready' && waits.columns !== null ? waitsOf(waits.columns, recording) : null));
    if (locks.state === 'failed') problems.push(`locks: ${locks.message}`);
    if (waits.state === 'failed') problems.push(`waits: ${waits.message}`);
    if (cpu.error !== '') problems.push(`CPU: ${cpu.error}`);
    return {data: laneData(recording.threads, profile, contentions, waited), problems};
  }, [recording, isLoading, profile, locks, waits]);
  if (made === null) return <p class="empty" role="status">Reading what the threads did</p>;
  const {data, problems} = made;
  const isEmpty = data.cpu.moment.length === 0 && data.blocks.rows.length === 0 && data.waitRows.rows.length === 0;
  return (
    <>
      {problems.map((text, i) => <p key={i} class="warning" role="alert">{clipped(text, 300)}</p>)}
      {isEmpty
        ? <p class="empty" role="status">This recording does not tell what threads did when: it has no samples, lock events or waits with times.</p>
        : <LanePanel {...props} data={data} profile={profile} />}
    </>
  );
}
