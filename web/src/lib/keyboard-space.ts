/**
 * The height of a keyboard that lies over the page, as the custom property `--keyboard`. Some
 * browsers shrink only the visible part of the page when a keyboard opens, and keep its layout.
 */

/** Smaller differences come from bars of the browser. */
const LEAST_PX = 80;

/** Returns the covered height in pixels. A page that is zoomed in shows a part by intention. */
export function covered(whole: number, seen: { height: number; offsetTop: number; scale: number }): number {
  const hidden = Math.round(whole - seen.height - seen.offsetTop);
  return seen.scale > 1.01 || hidden < LEAST_PX ? 0 : hidden;
}

/** Keeps the property up to date. */
export function watchKeyboard(): void {
  const seen = window.visualViewport;
  if (!seen) return;
  const measure = () =>
    document.documentElement.style.setProperty('--keyboard', `${covered(window.innerHeight, seen)}px`);
  seen.addEventListener('resize', measure);
  seen.addEventListener('scroll', measure);
  measure();
}
