//! Where networks are computed: on the CPU, or on what else this crate was built for (the features `wgpu` and `cuda`).

pub use burn::tensor::Device;

/// The devices of this build, by name: the CPU, the first graphics card through Vulkan, Metal or DirectX, the first NVIDIA card.
pub const NAMES: &[&str] = &[
    "cpu",
    #[cfg(feature = "wgpu")]
    "wgpu",
    #[cfg(feature = "cuda")]
    "cuda",
];

/// Why nothing can be computed there.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum DeviceError {
    #[error("there is no device `{0}` in this build, which has {list}; cargo's features `wgpu` and `cuda` add these", list = NAMES.join(", "))]
    Unknown(String),
    #[cfg(feature = "wgpu")]
    #[error("wgpu finds no device; on Linux it needs a Vulkan driver, such as Debian's mesa-vulkan-drivers")]
    Wgpu(#[from] burn::tensor::wgpu::WgpuInitError),
    #[cfg(feature = "cuda")]
    #[error("there is no NVIDIA card, or no driver for it")]
    Cuda,
}

/// A device by its name, ready. One process opens each of them once.
pub fn open(name: &str) -> Result<Device, DeviceError> {
    match name {
        "cpu" => Ok(Device::flex()),
        #[cfg(feature = "wgpu")]
        "wgpu" => Ok(Device::wgpu_options().init()?),
        #[cfg(feature = "cuda")]
        "cuda" => Device::enumerate(burn::tensor::DeviceType::Cuda).into_vec().into_iter().next().ok_or(DeviceError::Cuda),
        _ => Err(DeviceError::Unknown(name.into())),
    }
}
