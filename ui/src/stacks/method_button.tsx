import {clipped} from '../data/visible_text';
import type {Paint} from '../flame/palette';
import {splitClass, splitName} from '../model/names';
import {Swatch} from './swatch';

// Class and method first: the package is what may be cut off.
export function MethodName({name, isClass = false}: {name: string; isClass?: boolean}) {
  const {inner, outer} = isClass ? splitClass(name) : splitName(name);
  return (
    <bdi dir="ltr">
      {clipped(inner, 160)}{' '}{outer !== '' && <span class="muted package">{clipped(outer, 160)}</span>}
    </bdi>
  );
}

interface ButtonProps {
  readonly name: string;
  readonly kind: string;  // told by its colour, and to who can't see that
  readonly paint: Paint;
  readonly note: string;
  readonly onFind: (name: string) => void;
}

// A method in a table; pressing it finds its frames.
export function MethodButton({name, kind, paint, note, onFind}: ButtonProps) {
  return (
    <button type="button" class="method" onClick={() => onFind(name)} title={`${clipped(name, 600)}\n${note}`}>
      <Swatch paint={paint} />
      <span class="hidden">{kind} </span>
      <MethodName name={name} isClass={kind === 'class'} />
    </button>
  );
}

interface LinkProps {
  readonly name: string;
  readonly kind: string;
  readonly paint: Paint;
  readonly note: string;
  readonly href: string;
}

// A method that leads to another view.
export function MethodLink({name, kind, paint, note, href}: LinkProps) {
  return (
    <a class="method" href={href} title={`${clipped(name, 600)}\n${kind}: ${note}`} tabIndex={-1}>
      <Swatch paint={paint} />
      <span class="hidden">{kind} </span>
      <MethodName name={name} isClass={kind === 'class'} />
    </a>
  );
}
