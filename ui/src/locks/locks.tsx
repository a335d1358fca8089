import type {ViewProps} from '../shell/state';

export function Locks(_: ViewProps) {
  return <p class="empty" role="status">This view is not here yet.</p>;
}
