// Where others have confidence intervals: why there are none.
export function ExactNote({text}: {text: string}) {
  return text === '' ? null : <span title={text}>{' \u00b7 '}{text.replace(/:.*/s, '')}</span>;
}
