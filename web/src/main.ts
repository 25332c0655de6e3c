import { mount } from 'svelte';
import './app.css';
import App from './App.svelte';
import { watchKeyboard } from './lib/keyboard-space';
import { desktop, hall, session } from './stores/app';

/** Draws the page once the person is known. Until then, the skeleton of the document is shown. */
async function begin(target: HTMLElement): Promise<void> {
  await session.begin();
  await hall.open();
  target.replaceChildren();
  watchKeyboard();
  mount(App, { target });
  if (!session.needed) desktop.watch();
}

const target = document.getElementById('root');
if (target) void begin(target);
