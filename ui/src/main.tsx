// Opens the recording, and shows it. Whatever goes wrong is said in words: the page is never blank.
import {Component, render, type ComponentChildren} from 'preact';
import {openRecording} from './data/open';
import {App} from './shell/app';

class Guard extends Component<{children: ComponentChildren}, {message: string}> {
  override state = {message: ''};

  static override getDerivedStateFromError(error: unknown): {message: string} {
    return {message: error instanceof Error ? error.message : String(error)};
  }

  override render(): ComponentChildren {
    if (this.state.message === '') return this.props.children;
    return (
      <div class="empty" role="alert">
        <p>This view failed: {this.state.message.slice(0, 600)}.</p>
        <p><a href="#view=overview" onClick={() => this.setState({message: ''})}>Back to the overview</a></p>
      </div>
    );
  }
}

const app = document.getElementById('app')!;
openRecording((progress) => render(<Guard><App {...progress} /></Guard>, app));
