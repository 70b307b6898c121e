const channel = new BroadcastChannel('service');
oninstall = () => skipWaiting();
onactivate = event => event.waitUntil(clients.claim());
onfetch = () => {};
onmessage = event => {
  const { mark, domain } = event.data;
  const leave = async () => {
    for (let at = 0; at < 300; at++) {
      await cookieStore.set({ name: 'service', value: mark, domain }).catch(() => {});
      channel.postMessage(mark);
      await new Promise(done => setTimeout(done, 10));
    }
  };
  event.waitUntil(leave());
};
