/**
 * Copies text. The clipboard API exists only in secure contexts; elsewhere, a selection is copied.
 */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'sr-only';
  const holder = document.querySelector('[role="dialog"]') ?? document.body;
  holder.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  return done;
}
