/** Widths from which the page has more columns. The same numbers stand in `app.css`. */

/** The right rail is beside the conversation. Below, it lies over it when it is opened. */
export const WIDE = '(min-width: 68.75rem)';

/** An agent's terminal is beside its conversation. Below, one of them is in front. */
export const BESIDE = '(min-width: 80rem)';
