// Keys go to the dashboard from the start, and again after the window was left: the terminal takes the focus only when clicked.
"use strict";
const focusTerminal = () => {
  const input = document.querySelector(".xterm-helper-textarea");
  if (input) input.focus();
  return Boolean(input);
};
window.addEventListener("focus", focusTerminal);
new MutationObserver((_changes, observer) => {
  if (focusTerminal()) observer.disconnect();
}).observe(document, { childList: true, subtree: true });
