/** The person who uses the page. */

export class Me {
  /** The person's id. Until the server has told it, the id of a person that it does not know. */
  id = $state('user');
  /** True once the server has told the id. What is sent before would name another sender. */
  isKnown = $state(false);
}
