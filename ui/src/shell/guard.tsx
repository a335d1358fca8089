// A view that fails says so, and leaves the rest of the page alone.
import {Component, type ComponentChildren} from 'preact';

export class Guard extends Component<{children: ComponentChildren}, {message: string}> {
  override state = {message: ''};

  static override getDerivedStateFromError(error: unknown): {message: string} {
    return {message: error instanceof Error ? error.message : String(error)};
  }

  override render(): ComponentChildren {
    if (this.state.message === '') return this.props.children;
    return (
      <div class="empty" role="alert">
        <p>This view failed: {this.state.message.slice(0, 600)}.</p>
        <p>The other views may still work; <a href="#view=overview" onClick={() => this.setState({message: ''})}>to the overview</a>.</p>
      </div>
    );
  }
}
