/** Files in a clipboard or in a drop, which messages cannot carry yet. */

type Carrier = Pick<DataTransfer, 'files' | 'types'> | null;

/** True if files are carried, so that the browser would open them in place of the page. */
export function carriesFiles(data: Carrier): boolean {
  return data !== null && [...data.types].includes('Files');
}

/** Returns a sentence about files that cannot be sent; null without files. Text beside them is kept. */
export function fileNotice(data: Carrier): string | null {
  if (data === null || data.files.length === 0) return null;
  const areImages = [...data.files].every((file) => file.type.startsWith('image/'));
  const sentence = areImages ? 'Images cannot be sent yet.' : 'Files cannot be sent yet.';
  return [...data.types].includes('text/plain') ? `${sentence} The text beside them is kept.` : sentence;
}
