import type {ViewProps} from '../shell/state';

export function Quality(_: ViewProps) {
  return <p class="empty" role="status">This view is not here yet.</p>;
}
