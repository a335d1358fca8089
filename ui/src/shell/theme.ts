// Light or dark: what the system prefers, until the reader chooses.
import {useEffect, useState} from 'preact/hooks';

export type Theme = 'light' | 'dark';
const KEY = 'tarsier-theme';

function remembered(): Theme | null {
  try {
    const value = localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : null;
  } catch {
    return null; // pages from disk may have no storage
  }
}

function remember(theme: Theme): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // then it lasts as long as the page
  }
}

export function useTheme(): {theme: Theme; toggle: () => void} {
  const [preferred, setPreferred] = useState<Theme>(() =>
    matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  const [chosen, setChosen] = useState<Theme | null>(remembered);
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const update = (): void => setPreferred(query.matches ? 'dark' : 'light');
    query.addEventListener('change', update);
    return () => query.removeEventListener('change', update);
  }, []);
  const theme = chosen ?? preferred;
  useEffect(() => {
    document.documentElement.dataset['theme'] = theme;
  }, [theme]);
  const toggle = (): void => {
    const next = theme === 'dark' ? 'light' : 'dark';
    remember(next);
    setChosen(next);
  };
  return {theme, toggle};
}
