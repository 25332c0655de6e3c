import { expect, test } from 'vitest';
import { carriesFiles, fileNotice } from './pasted';

const carrier = (types: string[], ...files: string[]) =>
  ({ types, files: files.map((type) => ({ type })) }) as unknown as DataTransfer;

test('an image is told about, and the text beside it is kept', () => {
  expect(fileNotice(carrier(['Files'], 'image/png'))).toBe('Images cannot be sent yet.');
  expect(fileNotice(carrier(['text/plain', 'Files'], 'image/png'))).toContain('The text beside them is kept.');
  expect(fileNotice(carrier(['Files'], 'image/png', 'application/pdf'))).toBe('Files cannot be sent yet.');
});

test('text alone needs no word', () => {
  expect(fileNotice(carrier(['text/plain', 'text/html']))).toBeNull();
  expect(fileNotice(null)).toBeNull();
  expect([carriesFiles(carrier(['text/plain'])), carriesFiles(carrier(['Files'])), carriesFiles(null)]).toEqual([
    false,
    true,
    false,
  ]);
});
